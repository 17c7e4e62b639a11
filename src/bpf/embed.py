"""embed.py NAME IN OUT: a file's bytes as a C array NAME, aligned for an ELF file."""
import sys

name, source, target = sys.argv[1:]
with open(source, "rb") as file:
    data = file.read()
with open(target, "w", encoding="ascii") as out:
    out.write("static const unsigned char %s[] __attribute__((aligned(8))) = {\n" % name)
    for at in range(0, len(data), 32):
        out.write("\t" + "".join("%d," % byte for byte in data[at:at + 32]) + "\n")
    out.write("};\n")
