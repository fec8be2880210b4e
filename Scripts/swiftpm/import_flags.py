"""Builds, and prints the compiler's flags to import a target by, one a line."""

import pathlib
import sys

from package import Package

package = Package(pathlib.Path.cwd())
package.build()
print(*package.import_flags(sys.argv[1]), sep="\n")
