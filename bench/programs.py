"""The programs that the benchmarks record, built once and cached: a command to which seconds and further arguments are added."""
import glob
import os
import subprocess

import ride
import templates

# A script for CMake that keeps its string, list and expression code busy for a given time.
CMAKE_LOAD = r"""
set(limit ${CMAKE_ARGV3})
string(REGEX REPLACE "\\..*" "" limit ${limit})
string(TIMESTAMP begin "%s")
set(now ${begin})
set(words "")
math(EXPR end "${begin} + ${limit}")
while(NOT now GREATER end)
  foreach(i RANGE 400)
    math(EXPR x "(${i} * 7919 + 13) % 1009")
    list(APPEND words "target-${x}")
    string(REGEX REPLACE "([a-z]+)-([0-9]+)" "\\2_\\1" w "target-${x}")
    string(MD5 h "${w}")
    if("${h}" MATCHES "^[0-9a-f]*ff" AND x GREATER 3)
      string(TOUPPER "${h}" h)
    endif()
    set(v_${x} "${h}")
  endforeach()
  list(REMOVE_DUPLICATES words)
  list(SORT words COMPARE NATURAL)
  list(FILTER words INCLUDE REGEX "target-[0-9]*[13579]$")
  string(JSON j SET "{}" "a" "[1,2,3]")
  string(JSON n LENGTH "${j}" "a")
  string(TIMESTAMP now "%s")
endwhile()
"""


def link_whole(build):
    """Links CMake once more, with the code of all of its libraries and of ctest and cpack."""
    subprocess.run(["ninja", "-C", build, "cmake", "CTestLib", "CPackLib"], check=True)
    link = subprocess.run(["ninja", "-C", build, "-t", "commands", "bin/cmake"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout.splitlines()[-1]
    # libuv defines functions twice: the linker chooses one
    archives = [word for word in link.split() if word.endswith(".a") and not word.endswith("libcmlibuv.a")]
    archives += ["Source/libCTestLib.a", "Source/libCPackLib.a"]
    whole = "-Wl,--whole-archive %s -Wl,--no-whole-archive" % " ".join(archives)
    subprocess.run(link.replace("-o bin/cmake ", "-o bin/cmake-whole %s " % whole), shell=True, cwd=build, check=True)


def large(cache):
    """CMake itself, with more than 500 MB of debug information: Debian's source, built here with frame pointers; takes three
    quarters of an hour of CPU time."""
    folder = os.path.join(cache, "cmake")
    build = os.path.join(folder, "build")
    program = os.path.join(build, "bin", "cmake-whole")
    if not os.path.exists(program):
        os.makedirs(folder, exist_ok=True)
        subprocess.run(["apt-get", "source", "-q", "cmake"], cwd=folder, check=True)
        source = [d for d in glob.glob(os.path.join(folder, "cmake-*")) if os.path.isdir(d)][0]
        flags = "-O2 -g -fno-omit-frame-pointer -fno-eliminate-unused-debug-types"
        subprocess.run(["cmake", "-G", "Ninja", "-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=None",
                        "-DCMAKE_CXX_FLAGS=" + flags, "-DCMAKE_C_FLAGS=" + flags, "-DBUILD_TESTING=OFF"], check=True)
        link_whole(build)
    script = os.path.join(folder, "load.cmake")
    with open(script, "w") as out:
        out.write(CMAKE_LOAD)
    return [program, "-P", script]


def build(name, cache):
    if name == "large":
        return large(cache)
    if name == "ride":
        return [ride.build(os.path.join(cache, "workload"))]
    return [templates.build(os.path.join(cache, "templates"), name == "templates")]
