"""embed.py NAME IN OUT: a text file as a C string NAME, without blank lines, comments on lines of their own, and indentation."""
import sys

name, source, target = sys.argv[1:]
with open(source, encoding="utf-8") as file:
    lines = [line.strip() for line in file]
lines = [line for line in lines if line and not line.startswith("//")]
if any("]]>" in line or "</" in line for line in lines):
    sys.exit(source + ": would end the element that it is put into")
with open(target, "w", encoding="ascii") as out:
    out.write("static const char %s[] =\n" % name)
    for line in lines:
        data = (line + "\n").encode()
        out.write('\t"%s"\n' % "".join(
            {0x22: '\\"', 0x5c: "\\\\", 0x0a: "\\n"}.get(b, chr(b) if 0x20 <= b < 0x7f else "\\%03o" % b) for b in data))
    out.write("\t;\n")
