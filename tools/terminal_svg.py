#!/usr/bin/env python3
"""Draw what a command shows on a terminal of 80 columns.

Usage: terminal_svg.py FILE.svg SHOWN_COMMAND -- COMMAND...

The command runs on a pseudo-terminal; bold is kept, what it rewrites in place is not shown.
"""

import fcntl
import html
import os
import pty
import re
import struct
import sys
import termios

COLUMNS = 80
CHAR, LINE, MARGIN = 8.43, 19, 16


def capture(command):
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm", LC_ALL="C.UTF-8")
        try:
            os.execvp(command[0], command)
        except OSError as error:
            print(f"{command[0]}: {error}", flush=True)
            os._exit(127)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    text = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    if os.waitpid(pid, 0)[1] != 0:
        sys.exit(text.decode())
    lines = text.decode().replace("\r\n", "\n").split("\n")
    return [re.split(r"\r\x1b\[K", line)[-1] for line in lines]


def spans(line):
    """The line as SVG, bold parts in a span of their own."""
    out = []
    for part in re.split(r"(\x1b\[1m.*?\x1b\[0m)", line):
        bold = part.startswith("\x1b[1m")
        text = html.escape(re.sub(r"\x1b\[\d*m", "", part))
        out.append(f'<tspan font-weight="bold" fill="#ffffff">{text}</tspan>' if bold else text)
    return "".join(out)


def main():
    path, shown = sys.argv[1:3]
    lines = [f"\x1b[1m$ {shown}\x1b[0m"] + capture(sys.argv[4:])
    while lines and not lines[-1].strip():
        lines.pop()
    width = max(len(re.sub(r"\x1b\[\d*m", "", line)) for line in lines) * CHAR + 2 * MARGIN
    height = len(lines) * LINE + 2 * MARGIN
    with open(path, "w", encoding="utf-8") as svg:
        svg.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
                  f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">\n'
                  '<rect width="100%" height="100%" rx="8" fill="#1d2330"/>\n'
                  '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" '
                  'fill="#d6dbe5">\n')
        for number, line in enumerate(lines):
            y = MARGIN + (number + 0.75) * LINE
            length = len(re.sub(r"\x1b\[\d*m", "", line)) * CHAR
            svg.write(f'<text x="{MARGIN}" y="{y:.1f}" xml:space="preserve" '
                      f'textLength="{length:.1f}">{spans(line)}</text>\n')
        svg.write("</g>\n</svg>\n")


if __name__ == "__main__":
    main()
