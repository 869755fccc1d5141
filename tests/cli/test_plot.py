"""Plots: pictures hold the values that are known, names do no harm, all is checked first. Cases C20, C21, C29, C30."""

import re
import struct
import xml.etree.ElementTree as ET

import pytest

SVG = "{http://www.w3.org/2000/svg}"
BYTES = "program__stdout_bytes.sum"


def texts(path):
    """What is written in an SVG."""
    return [node.text or "" for node in ET.parse(path).iter(f"{SVG}text")]


def marks(path):
    """Centres of the marks of an SVG by colour, in the order in which they were drawn."""
    found = {}
    for use in ET.parse(path).iter(f"{SVG}use"):
        place = re.match(r"translate\(([\d.]+),([\d.]+)\)", use.get("transform", ""))
        if place:
            found.setdefault(use.get("color"), []).append(tuple(map(float, place.groups())))
    return found


def paths(path):
    """The corners of each line of an SVG that has a colour of its own."""
    lines = []
    for node in ET.parse(path).iter(f"{SVG}path"):
        color = re.findall(r"\d+", node.get("stroke") or "")
        if len(set(color)) > 1:  # no grey
            for part in node.get("d").split("M"):  # each M lifts the pen
                lines.append([tuple(map(float, point)) for point in re.findall(r"([\d.]+),([\d.]+)", part)])
    return lines


def heads(ks, *args, sizes="1000,4000,2000", **options):
    """A program that writes as many bytes as n says: values known beforehand."""
    return ks("run", "-q", "-p", f"n={sizes}", "--runs", "3", "-m", BYTES, *args, "--", "head", "-c", "{n}",
              "/dev/zero", **options)


def test_points_lie_where_their_values_are(ks):
    heads(ks, "--plot", "p.svg")
    (points,) = marks(ks.folder / "p.svg").values()
    assert len(points) == 3
    x, y = zip(*points)
    assert list(x) == sorted(x)  # in numeric order
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.05)  # 1000, 2000, 4000: a logarithmic axis
    zero = y[0] + (y[0] - y[1])  # of a linear axis: 1000 is as far from 2000 as from 0
    assert y[1] - y[2] == pytest.approx(2 * (y[0] - y[1]), abs=0.05)
    written = texts(ks.folder / "p.svg")
    assert {"1000", "2000", "4000", "n", "head", f"{BYTES} (kB)"} <= set(written)
    # the axis line is at 0
    assert any(abs(corner[1] - zero) < 0.05 for node in ET.parse(ks.folder / "p.svg").iter(f"{SVG}path")
               if node.get("stroke") == "rgb( 96,  96,  96)"
               for corner in [tuple(map(float, re.findall(r"[\d.]+", node.get("d"))[:2]))])


def test_bars_have_the_heights_of_their_values_and_the_given_order(ks):
    ks("run", "-q", "-p", "n='30 x','10 x','20 x'", "--runs", "2", "-m", BYTES, "--plot", "p.svg", "--",
       "sh", "-c", 'head -c ${1%% *} /dev/zero', "sh", "{n}")
    boxes = []
    for node in ET.parse(ks.folder / "p.svg").iter(f"{SVG}polygon"):
        points = [tuple(map(float, p.split(","))) for p in node.get("points").split()]
        if node.get("fill") == "rgb(  0, 114, 178)":
            ys = [p[1] for p in points]
            boxes.append((min(p[0] for p in points), max(ys) - min(ys)))
    boxes = sorted(box for box in boxes if box[1] > 0)
    assert len(boxes) == 3
    assert boxes[0][1] == pytest.approx(3 * boxes[1][1], abs=0.1)
    assert boxes[2][1] == pytest.approx(2 * boxes[1][1], abs=0.1)


def test_one_config_is_visible(ks):  # C30 a
    ks("run", "-q", "--runs", "1", "-m", BYTES, "--plot", "p.svg", "--", "echo", "text")
    boxes = [node for node in ET.parse(ks.folder / "p.svg").iter(f"{SVG}polygon")
             if node.get("fill") == "rgb(  0, 114, 178)"]
    assert boxes
    assert "echo" in texts(ks.folder / "p.svg")


def test_a_value_that_is_missing_is_a_gap(ks):
    ks("run", "-q", "-p", "n=1..4", "--runs", "1", "--tolerant", "-m", BYTES, "--plot", "p.svg", "--",
       "sh", "-c", "[ {n} != 2 ] && echo {n}", status=1)
    (points,) = marks(ks.folder / "p.svg").values()
    assert len(points) == 3
    drawn = [line for line in paths(ks.folder / "p.svg") if len(line) > 1]
    assert drawn == [points[1:]]  # 3 and 4 are joined, 1 stands alone
    assert "1 of 4 values is missing." in texts(ks.folder / "p.svg")


def test_named_metrics_are_panels(ks):
    ks("run", "-q", "-p", "n=1..3", "--runs", "1", "-m", f"cpu__time_duration.sum, {BYTES}", "--plot", "p.svg",
       "--", "echo", "{n}")
    written = " ".join(texts(ks.folder / "p.svg"))
    assert "cpu__time_duration.sum (" in written and f"{BYTES} (B)" in written
    assert len(next(iter(marks(ks.folder / "p.svg").values()))) == 6


def test_without_a_choice_the_time_is_plotted(ks):
    ks("run", "-q", "--runs", "1", "--plot", "p.svg", "--", "true")
    written = " ".join(texts(ks.folder / "p.svg"))
    assert "cpu__time_duration.sum" in written and "cpu__user_time.sum" not in written


def test_a_parameter_has_panels_if_named(ks):
    args = ["run", "-q", "-p", "n=1..3", "-p", "mode=fast,safe", "--runs", "1", "-m", BYTES, "--plot", "p.svg"]
    ks(*args, "--", "echo", "{n}", "{mode}")
    assert len(marks(ks.folder / "p.svg")) == 2  # a colour each
    ks(*args, "--plot-panels", "mode", "--", "echo", "{n}", "{mode}")
    assert len(marks(ks.folder / "p.svg")) == 1
    assert {"mode=fast", "mode=safe"} <= set(texts(ks.folder / "p.svg"))
    ks(*args, "--plot-x", "mode", "--", "echo", "{n}", "{mode}")
    assert {"fast", "safe", "n=1", "n=3"} <= set(texts(ks.folder / "p.svg"))


def test_files_are_what_their_names_say(ks):
    done = heads(ks, "--plot", "p.png", "--plot", "p.pdf", "--plot", "p.SVG", "--csv", "p.csv")
    png = (ks.folder / "p.png").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", png[16:24])[0] == 1600
    assert (ks.folder / "p.pdf").read_bytes().startswith(b"%PDF-")
    assert ET.parse(ks.folder / "p.SVG").getroot().tag == f"{SVG}svg"
    assert "head" in done.stdout and (ks.folder / "p.csv").exists()


EVIL = ["it's `touch ran`", '"; system("touch ran"); "', "'.system('touch ran').'", "$(touch ran) @a",
        "a_b^c {/Bold x} &amp; <b>", "50% %d %s", "back\\", "🚀 ü"]


def test_names_stand_for_themselves(ks):  # C20
    program = ks.folder / "it's `touch ran` %d_^x"
    program.write_text("#!/bin/sh\necho \"$1\"\n")
    program.chmod(0o755)
    spec = "t=" + ",".join("'" + v.replace("'", "''") + "'" for v in [*EVIL, "two\nlines"])
    done = ks("run", "-q", "-p", spec, "--runs", "1", "-m", BYTES, "--plot", "p.svg", "--plot", "p.png",
              "--plot", "p.pdf", "--plot", "-", "--", str(program), "{t}")
    assert not (ks.folder / "ran").exists()
    written = texts(ks.folder / "p.svg")
    short = [v for v in EVIL if len(v) <= 20]
    assert len(short) > 4 and set(short) <= set(written)
    assert "two\\nlines" in written
    assert program.name in written
    assert program.name in done.stdout.split("\n\n")[-1]


def test_the_locale_changes_nothing(ks):  # C21
    heads(ks, "--plot", "c.svg", sizes="1500,2500,4500")
    heads(ks, "--plot", "de.svg", sizes="1500,2500,4500", env={"LC_ALL": "de_DE.UTF-8"})
    assert (ks.folder / "c.svg").read_bytes() == (ks.folder / "de.svg").read_bytes()
    assert "2.5" in texts(ks.folder / "de.svg")


def test_a_plot_as_text_stands_behind_the_table(ks):
    done = heads(ks, "--plot", "-", "--csv", "p.csv", env={"LC_ALL": "C.UTF-8"})
    table, plot = done.stdout.split("\n\n", 1)
    assert table.startswith(" ") and "annotation" in table
    lines = plot.splitlines()
    assert max(map(len, lines)) <= 80 and "\f" not in plot
    assert f"head: {BYTES} (kB)" in lines[0]
    assert sum(line.count("A") for line in lines) == 3  # the three points


@pytest.mark.parametrize("args, status, message", [
    (["--plot", "x.gif"], 2, "cannot plot into x.gif: its name must end in .png, .svg or .pdf"),
    (["--plot", "nowhere/x.png"], 1, "the folder nowhere/: No such file"),
    (["--plot", "x.png", "-m", "cpu__*"], 2, "name those to plot (--plot-metric), among cpu__"),
    (["--plot", "x.png", "--plot-metric", "nope"], 2, "there is no metric 'nope' to plot; measured: cpu__time"),
    (["--plot", "x.png", "--plot-x", "m"], 2, "there is no parameter 'm' to plot"),
    (["--plot", "x.png", "--plot-panels", "m"], 2, "there is no parameter 'm' to plot"),
    (["--plot-x", "n"], 2, "no use without --plot"),
    (["--plot", "-", "--csv", "-"], 2, "only one of --csv, --json and --plot can go to stdout"),
    (["--plot", "-", "--json", "-"], 2, "only one of --csv, --json and --plot can go to stdout"),
    (["--plot", "x.svg", "--json", "x.svg"], 2, "--json x.svg and --plot x.svg are the same file"),
])
def test_all_is_checked_before_anything_runs(ks, args, status, message):  # C30 d
    done = ks("run", "-p", "n=1", *args, "--", "touch", "ran", status=status)
    assert message in done.stderr
    assert not (ks.folder / "ran").exists()


def test_without_gnuplot_it_says_what_to_install(ks):  # C30 f
    (ks.folder / "bin").mkdir()
    done = ks("run", "--plot", "x.png", "--", "/usr/bin/touch", "ran", status=3, env={"PATH": str(ks.folder / "bin")})
    assert "plots need gnuplot, which is not installed: apt-get install gnuplot-nox" in done.stderr
    assert not (ks.folder / "ran").exists()
    ks("run", "--", "/usr/bin/touch", "ran", env={"PATH": str(ks.folder / "bin")})


def test_a_gnuplot_that_cannot_draw_it_is_told(ks):
    (ks.folder / "bin").mkdir()
    gnuplot = ks.folder / "bin/gnuplot"
    gnuplot.write_text("#!/bin/sh\necho 'unknown terminal' >&2\nexit 1\n")
    gnuplot.chmod(0o755)
    done = ks("run", "--plot", "x.png", "--", "/usr/bin/touch", "ran", status=3, env={"PATH": f"{ks.folder}/bin"})
    assert "this gnuplot cannot draw such a file" in done.stderr and "unknown terminal" in done.stderr


def test_a_full_disk_is_told_and_costs_nothing_else(ks):  # C29
    (ks.folder / "full.svg").symlink_to("/dev/full")
    done = heads(ks, "--plot", "full.svg", "--csv", "p.csv", status=1)
    assert "No space left on device" in done.stderr
    assert "head" in done.stdout and (ks.folder / "p.csv").exists()


def test_what_is_not_complete_is_a_partial_file(ks):
    done = ks("run", "-q", "-p", "n=1,2,3", "--runs", "1", "-m", BYTES, "--plot", "p.svg", "--",
              "sh", "-c", "[ {n} -lt 3 ] && echo x", status=1)
    assert "what was measured is in p.svg.partial" in done.stderr
    assert not (ks.folder / "p.svg").exists()
    assert any("Partial: " in text and "of 3 configs" in text for text in texts(ks.folder / "p.svg.partial"))


def test_nothing_to_plot_is_told(ks):
    done = ks("run", "-q", "--runs", "1", "--tolerant", "--plot", "p.svg", "--", "false", status=1)
    assert "there is no value to plot: " in done.stderr
    assert not (ks.folder / "p.svg").exists()


def test_a_sweep_file_has_plots_too(ks):
    (ks.folder / "sweep.yaml").write_text(
        f"param: {{n: [1, 2]}}\nruns: 1\nmetric: {BYTES}\nplot: [a.svg, b.png]\nprogram: [echo, '{{n}}']\n")
    ks("run", "--file", "sweep.yaml")
    assert (ks.folder / "a.svg").exists() and (ks.folder / "b.png").exists()
