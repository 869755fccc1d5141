/*
 * Manual pages and what completion asks for, from the tables and texts that --help shows. Texts in
 * `doc` are paragraphs between empty lines; lines that begin with blanks are shown as they are.
 */
#include <string.h>

#include "command.h"

/* What argp adds to each command's options. */
static const struct argp_option added[] = {
    {"help", '?', NULL, 0, "Give this help list", 0},
    {"usage", 0, NULL, 0, "Give a short usage message", 0},
    {0},
};

/* Paragraphs that begin with these words are sections of their own, in this order. */
static const struct {
    const char *start;
    const char *section;
} headings[] = {
    {"Examples:", "EXAMPLES"},
    {"Environment:", "ENVIRONMENT"},
    {"Exit status:", "EXIT STATUS"},
};

enum {
    HEADINGS = sizeof headings / sizeof headings[0]
};

static bool ends(const struct argp_option *option)
{
    return option->name == NULL && option->doc == NULL;
}

/* ---- roff -------------------------------------------------------------------------------------
 */

/* Text in which nothing has a meaning for roff. */
static void put_text(const char *text, size_t length)
{
    static const char special[] = "\\-'`^~";
    static const char *const names[] = {"\\e", "\\-", "\\(aq", "\\(ga", "\\(ha", "\\(ti"};
    fputs(length > 0 && text[0] == '.' ? "\\&" : "", stdout);
    for (size_t i = 0; i < length; i++) {
        const char *found = strchr(special, text[i]);
        if (found != NULL) {
            fputs(names[found - special], stdout);
        } else {
            putchar(text[i]);
        }
    }
}

static void put(const char *text)
{
    put_text(text, strlen(text));
}

/* Lines up to `end`; those that begin with blanks keep their shape. */
static void put_lines(const char *text, const char *end)
{
    bool kept = false;
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        line_end = line_end != NULL ? line_end : end;
        if ((text[0] == ' ') != kept) {
            kept = !kept;
            puts(kept ? ".EX" : ".EE");
        }
        put_text(text, (size_t)(line_end - text));
        putchar('\n');
        text = line_end + (line_end < end);
    }
    fputs(kept ? ".EE\n" : "", stdout);
}

/* Which heading a paragraph begins with; HEADINGS if none. */
static size_t heading_of(const char *paragraph)
{
    size_t i = 0;
    while (i < HEADINGS && strncmp(paragraph, headings[i].start, strlen(headings[i].start)) != 0) {
        i++;
    }
    return i;
}

/* The paragraphs of `text` that have this heading, HEADINGS: none. */
static void put_paragraphs(const char *text, size_t heading)
{
    while (text != NULL && *text != '\0') {
        const char *end = strstr(text, "\n\n");
        const char *next = end != NULL ? end + 2 : NULL;
        end = end != NULL ? end : text + strlen(text);
        if (heading_of(text) == heading && heading == HEADINGS) {
            puts(".PP");
            put_lines(text, end);
        } else if (heading_of(text) == heading) {
            printf(".SH %s\n", headings[heading].section);
            text += strlen(headings[heading].start);
            put_lines(text + (*text == ' ' || *text == '\n'), end);
        }
        text = next;
    }
}

/* Keys of options without a letter are no characters. */
static bool has_letter(const struct argp_option *option)
{
    return option->key > ' ' && option->key < 127;
}

static void put_option(const struct argp_option *option)
{
    puts(".TP");
    if (has_letter(option)) {
        printf("\\fB\\-%c\\fR, ", option->key);
    }
    fputs("\\fB\\-\\-", stdout);
    put(option->name);
    fputs("\\fR", stdout);
    if (option->arg != NULL) {
        fputs("=\\fI", stdout);
        put(option->arg);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    put(option->doc);
    putchar('\n');
}

static void put_options(const struct argp_option *known)
{
    bool grouped = known->name == NULL && known->doc != NULL;
    puts(".SH OPTIONS");
    for (const struct argp_option *o = known; !ends(o); o++) {
        if (o->name == NULL) {
            printf(".SS %.*s\n", (int)strcspn(o->doc, ":"), o->doc);
        } else {
            put_option(o);
        }
    }
    fputs(grouped ? ".SS Help\n" : "", stdout);
    for (const struct argp_option *o = added; !ends(o); o++) {
        put_option(o);
    }
}

static void put_commands(void)
{
    puts(".SH COMMANDS");
    for (const command *c = commands; c->name != NULL; c++) {
        printf(".TP\n.B %s\n%s\n", c->name, c->summary);
    }
}

/* The name of a page. */
static void put_name(const command *page)
{
    printf("kernsight%s%s", page->name[0] != '\0' ? "\\-" : "", page->name);
}

static void put_reference(const command *page, const char *before)
{
    printf("%s.BR \\%%", before); /* which keeps it in one piece */
    put_name(page);
    fputs(" (1)", stdout);
}

/* All pages but this one. */
static void put_see_also(const command *page)
{
    const char *before = ".SH SEE ALSO\n";
    if (page != &whole_program) {
        put_reference(&whole_program, before);
        before = ",\n";
    }
    for (const command *c = commands; c->name != NULL; c++) {
        if (c != page) {
            put_reference(c, before);
            before = ",\n";
        }
    }
    putchar('\n');
}

static void put_synopsis(const command *page)
{
    printf(".SH SYNOPSIS\n.B kernsight %s\n", page->name);
    fputs(page->argp->options != NULL ? "[OPTION...]\n" : "", stdout);
    if (page->argp->args_doc != NULL) {
        put(page->argp->args_doc);
        putchar('\n');
    }
}

void print_manual(const command *page)
{
    const char *doc = page->argp->doc;
    const char *rest = strchr(doc, '\v');
    fputs(".TH ", stdout);
    put_name(page);
    printf(" 1 \"\" \"kernsight %s\"\n.ad l\n.SH NAME\n", ks_version());
    put_name(page);
    printf(" \\- %s\n", page->summary);
    put_synopsis(page);
    puts(".SH DESCRIPTION");
    put_lines(doc, rest);
    put_paragraphs(rest + 1, HEADINGS);
    if (page->argp->options != NULL) {
        put_options(page->argp->options);
    } else {
        put_commands();
    }
    for (size_t i = 0; i < HEADINGS; i++) {
        put_paragraphs(rest + 1, i);
    }
    put_see_also(page);
}

/* ---- lists ------------------------------------------------------------------------------------
 */

static void list_options(const struct argp_option *option)
{
    for (; !ends(option); option++) {
        if (option->name != NULL) {
            char letter[] = {'-', (char)option->key, '\0'};
            printf("%s\t--%s\t%s\t%s\n", has_letter(option) ? letter : "-", option->name,
                   option->arg != NULL ? option->arg : "-", option->doc);
        }
    }
}

void print_names(const command *of)
{
    if (of == &whole_program) {
        for (const command *c = commands; c->name != NULL; c++) {
            printf("%s\t%s\n", c->name, c->summary);
        }
        return;
    }
    list_options(of->argp->options);
    list_options(added);
    if (of->argp->args_doc != NULL) {
        printf("-\t-\t%s\t-\n", of->argp->args_doc);
    }
}
