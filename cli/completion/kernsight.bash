# shellcheck shell=bash
# bash completion for kernsight. Commands, options and metrics are those that the program itself tells.

# Words that readline has split at = and : are put together again, in `words`, `places` has where they
# began; `current` is the last of them, and `split` what of it readline does not replace.
_kernsight_words()
{
    local i word glued=
    words=() places=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((${#words[@]})) && [[ $glued || $word == [=:]* ]]; then
            words[-1]+=$word
        else
            words+=("$word") places+=("$i")
        fi
        glued=
        if [[ $word =~ ^[=:]+$ ]]; then glued=1; fi
    done
    current=${words[-1]}
    word=${COMP_WORDS[COMP_CWORD]}
    if [[ $word =~ ^[=:]+$ ]]; then word=; fi
    split=${current%"$word"}
}

# Offer WORDS (one a line) that begin with what is typed; readline wants them without `split`.
_kernsight_offer()
{
    local word
    while IFS= read -r word; do
        if [[ $word == "$current"* ]]; then COMPREPLY+=("${word#"$split"}"); fi
    done <<<"$1"
}

# _kernsight_files KIND BEFORE: files or directories; BEFORE is what stands before their names.
_kernsight_files()
{
    local name
    compopt -o filenames 2>/dev/null
    while IFS= read -r name; do
        name=$2$name
        COMPREPLY+=("${name#"$split"}")
    done < <(compgen -A "$1" -- "${current#"$2"}")
}

_kernsight_metrics()
{
    "$program" metrics 2>/dev/null | sed -n 's/^\([a-z0-9_]*__[^ ]*\).*/\1/p'
}

# _kernsight_value KIND BEFORE: the value of an option, or an argument, by what the help calls it.
_kernsight_value()
{
    local listed word
    case $1 in
    METRIC,...)
        word=${current#"$2"}
        listed=
        if [[ $word == *,* ]]; then listed=${word%,*},; fi
        _kernsight_offer "$(compgen -P "$2$listed" -W "$(_kernsight_metrics)" -- "${word#"$listed"}")"
        ;;
    '[PATTERN]') _kernsight_offer "$(_kernsight_metrics)" ;;
    '[COMMAND]') _kernsight_offer "$("$program" help --list | cut -f 1)" ;;
    D) _kernsight_files directory "$2" ;;
    *)
        if [[ $1 == *'|'* ]]; then
            for word in ${1//|/ }; do
                if [[ $word == [a-z]* ]]; then _kernsight_offer "$2$word"; fi
            done
        fi
        if [[ "|$1|" == *'|F|'* ]]; then _kernsight_files file "$2"; fi
        ;;
    esac
}

# The program that is measured, the word number `at`, and its arguments: by its own completion where
# bash-completion is there.
_kernsight_program()
{
    if declare -F _command_offset >/dev/null; then
        _command_offset "${places[at]}"
        return
    fi
    if ((at == ${#words[@]} - 1)) && [[ $current != */* ]]; then
        _kernsight_offer "$(compgen -c -- "$current" | sort -u)"
    fi
    _kernsight_files file ""
}

_kernsight()
{
    local words places current split program=$1 letter name value at
    local -A takes=()
    local offered='' arguments=''
    COMPREPLY=()
    _kernsight_words
    if ((${#words[@]} == 2)); then
        _kernsight_offer "$("$program" help --list 2>/dev/null | cut -f 1; printf -- '--help\n--version')"
        return
    fi
    while IFS=$'\t' read -r letter name value _; do
        if [[ $name == - ]]; then
            arguments=$value
        else
            offered+=$name$'\n'
            takes[$name]=$value
            takes[$letter]=$value
        fi
    done < <("$program" help --list "${words[1]}" 2>/dev/null)

    for ((at = 2; at < ${#words[@]} - 1; at++)); do
        case ${words[at]} in
        --)
            ((++at))
            break
            ;;
        -*)
            value=${takes[${words[at]}]:--}
            if [[ $value != - ]] && ((++at == ${#words[@]} - 1)); then
                _kernsight_value "$value" ""
                return
            fi
            ;;
        *) break ;;
        esac
    done
    if [[ $arguments == *PROGRAM* && (${words[at - 1]} == -- || $current != -* || at -lt ${#words[@]}-1) ]]; then
        _kernsight_program
    elif [[ $current == --*=* ]]; then
        _kernsight_value "${takes[${current%%=*}]}" "${current%%=*}="
    elif [[ $current == -* ]]; then
        _kernsight_offer "${offered%$'\n'}"
    else
        _kernsight_value "$arguments" ""
    fi
}

complete -F _kernsight kernsight
