# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of the tutorial on tiles: ``python docs/tile-tutorial/draw.py``."""

from pathlib import Path

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328; text-anchor: middle }
  .left { text-anchor: start }
  .card { fill: #ffffff }
  .array { fill: #eaeef2; stroke: #57606a }
  .tile { fill: #54aeff; fill-opacity: .55; stroke: #0969da; stroke-width: 1.5 }
  .other { fill: #4ac26b; fill-opacity: .5; stroke: #1a7f37; stroke-width: 1.5 }
  .padding { fill: none; stroke: #bc4c00; stroke-width: 1.5; stroke-dasharray: 4 3 }
  .cut { stroke: #57606a; stroke-dasharray: 2 3 }
  .arrow { stroke: #57606a; stroke-width: 1.5; fill: none; marker-end: url(#head) }
  #head path { fill: #57606a }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .card { fill: #0d1117 }
    .array { fill: #21262d; stroke: #8b949e }
    .tile { stroke: #79c0ff; fill: #1f6feb }
    .other { stroke: #7ee787; fill: #238636 }
    .padding { stroke: #ffa657 }
    .cut, .arrow { stroke: #8b949e }
    #head path { fill: #8b949e }
  }
"""


class Picture:
    """A card with shapes; it has a background of its own, so that it is readable on any page."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        self.shapes = [f'<rect class="card" width="{width}" height="{height}" rx="8"/>']
        self.title = title

    def box(  # noqa: PLR0917 - SVG's order
        self, kind: str, x: int, y: int, width: int, height: int, text: str = ""
    ) -> None:
        """Add a rectangle with a text in its middle."""
        place = f'x="{x}" y="{y}" width="{width}" height="{height}"'
        self.shapes.append(f'<rect class="{kind}" {place}/>')
        if text:
            self.text(x + width // 2, y + height // 2 + 5, text)

    def text(self, x: int, y: int, text: str, kind: str = "") -> None:
        kind = f' class="{kind}"' if kind else ""
        self.shapes.append(f'<text{kind} x="{x}" y="{y}">{text}</text>')

    def line(self, kind: str, *points: int) -> None:
        pairs = zip(points[::2], points[1::2], strict=True)
        path = "M" + " L".join(f"{x} {y}" for x, y in pairs)
        self.shapes.append(f'<path class="{kind}" d="{path}"/>')

    def grid(  # noqa: PLR0917 - the same
        self, x: int, y: int, columns: int, rows: int, width: int, height: int
    ) -> None:
        """Add an array that is cut into tiles of width by height."""
        self.box("array", x, y, columns * width, rows * height)
        for i in range(1, columns):
            self.line("cut", x + i * width, y, x + i * width, y + rows * height)
        for j in range(1, rows):
            self.line("cut", x, y + j * height, x + columns * width, y + j * height)

    def save(self, file: Path) -> None:
        head = (
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 Z"/></marker></defs>'
        )
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {self.size} role="img">',
            f"<title>{self.title}</title>",
            f"<style>{STYLE}</style>",
            head,
            *self.shapes,
            "</svg>",
        ]
        file.write_text("\n".join(parts) + "\n")


def vector() -> Picture:
    picture = Picture(680, 190, "A vector is cut into tiles of one block each")
    for row, name in enumerate(("x", "y", "result")):
        y = 40 + 40 * row
        picture.text(30, y + 18, name)
        picture.grid(64, y, 8, 1, 70, 26)
        picture.box("other" if row == 2 else "tile", 64 + 3 * 70, y, 70, 26)
        # 1000 elements end 24 elements before the end of the eighth tile.
        picture.box("card", 64 + 8 * 70 - 13, y - 1, 15, 28)
        picture.box("padding", 64 + 8 * 70 - 13, y, 13, 26)
    for i in range(8):
        picture.text(64 + 70 * i + 35, 28, f"block {i}")
    picture.text(340, 176, "8 tiles of 128 elements cover 1000: the last 24 are outside")
    return picture


def rows() -> Picture:
    picture = Picture(680, 215, "Each row is one tile, and becomes one number")
    picture.text(200, 28, "x: 16 rows of 200")
    picture.grid(70, 40, 1, 5, 290, 26)
    for row, name in enumerate(("block 0", "block 1", "block 2", "…", "block 15")):
        picture.text(36, 58 + 26 * row, name)
    picture.box("tile", 70, 92, 290, 26, "ct.load(x, (row, 0), shape=(1, 256))")
    picture.box("padding", 360, 92, 81, 26, "0 … 0")
    picture.line("arrow", 448, 105, 540, 105)
    picture.text(494, 96, "ct.sum")
    picture.grid(550, 40, 1, 5, 40, 26)
    picture.box("other", 550, 92, 40, 26)
    picture.text(570, 28, "result")
    picture.text(340, 198, "Padding of zeros fills the tile beyond the end of the row")
    return picture


def softmax() -> Picture:
    picture = Picture(680, 250, "The steps of softmax keep a row in registers")
    steps = ("values", "exp(values - largest)", "powers / total")
    for row, step in enumerate(steps):
        y = 36 + 70 * row
        picture.box("other" if row == 2 else "tile", 40, y, 300, 28, step)
        picture.box("padding", 340, y, 70, 28, ("-∞", "0", "")[row])
    for row, name in enumerate(("largest", "total")):
        y = 36 + 70 * row
        picture.line("arrow", 418, y + 14, 490, y + 14)
        picture.text(454, y + 7, ("ct.max", "ct.sum")[row])
        picture.box("tile", 500, y, 30, 28)
        picture.text(540, y + 19, name, "left")
        picture.line("arrow", 515, y + 32, 515, y + 48, 190, y + 48, 190, y + 66)
    picture.text(340, 236, "Read once, stored once: the row stays in the registers of its block")
    return picture


def transpose() -> Picture:
    picture = Picture(680, 262, "A tile moves across the diagonal")
    picture.text(174, 26, "x")
    picture.grid(70, 38, 4, 3, 52, 52)
    picture.box("tile", 70 + 2 * 52, 38 + 52, 52, 52, "(1, 2)")
    picture.line("arrow", 300, 116, 400, 116)
    picture.text(350, 106, "ct.transpose")
    picture.text(488, 26, "result")
    picture.grid(410, 38, 3, 4, 52, 52)
    picture.box("other", 410 + 52, 38 + 2 * 52, 52, 52, "(2, 1)")
    return picture


def product() -> Picture:
    picture = Picture(680, 330, "A tile of c needs a row of tiles of a and a column of tiles of b")
    picture.text(300, 190, "c")
    picture.grid(310, 176, 3, 2, 70, 60)
    picture.box("other", 310 + 70, 176 + 60, 70, 60, "(i, j)")
    picture.text(36, 190, "a")
    picture.grid(50, 176, 5, 2, 44, 60)
    for k in range(5):
        picture.box("tile", 50 + 44 * k, 236, 44, 60, f"k = {k}" if k < 4 else "…")
    picture.text(300, 34, "b")
    picture.grid(310, 20, 3, 5, 70, 28)
    for k in range(5):
        picture.box("tile", 380, 20 + 28 * k, 70, 28, f"k = {k}" if k < 4 else "…")
    picture.text(150, 70, "total = ct.mma(left, right, total)")
    picture.text(150, 90, "for each k")
    picture.text(340, 318, "The next tiles of a and b are copied while these are multiplied")
    return picture


def attention() -> Picture:
    picture = Picture(680, 330, "Queries meet keys and values tile by tile")
    picture.text(95, 28, "queries")
    picture.grid(50, 40, 1, 4, 90, 48)
    picture.box("tile", 50, 40 + 2 * 48, 90, 48, "i = 2")
    picture.text(290, 28, "scores with keys")
    picture.grid(180, 40, 4, 4, 55, 48)
    for j in range(2):
        picture.box("tile", 180 + 55 * j, 136, 55, 48, f"j = {j}")
    picture.box("tile", 290, 136, 55, 48, "j = 2")
    picture.line("padding", 290, 136, 345, 184)
    picture.text(372, 165, "later")
    picture.text(515, 28, "values")
    picture.grid(470, 40, 1, 4, 90, 48)
    for j in range(3):
        picture.box("tile", 470, 40 + 48 * j, 90, 48, f"j = {j}")
    picture.line("arrow", 262, 190, 262, 250)
    picture.line("arrow", 515, 190, 515, 250)
    picture.box("other", 180, 258, 220, 34, "largest, weight: of each query")
    picture.box("other", 430, 258, 170, 34, "total: output so far")
    picture.text(340, 318, "If the largest score grows, weight and total are scaled down")
    return picture


def layout() -> Picture:
    picture = Picture(680, 390, "Lanes have the same elements before and after a transpose")
    picture.text(220, 26, "f32[8,16]: registers 0, 1, lanes 2 … 6")
    picture.text(530, 26, "its transpose, f32[16,8]")
    picture.grid(60, 110, 16, 8, 20, 20)
    picture.grid(450, 38, 8, 16, 20, 20)
    for lane in range(32):
        row, column = divmod(lane, 4)
        kind = "other" if lane == 5 else "tile"
        picture.box(kind, 60 + 80 * column, 110 + 20 * row, 80, 20, f"lane {lane}")
        picture.box(kind, 450 + 20 * row, 38 + 80 * column, 20, 80, str(lane))
    picture.text(340, 378, "A lane keeps its four elements: only the names of the bits change")
    return picture


DRAWN = (vector, rows, softmax, transpose, product, attention, layout)

if __name__ == "__main__":
    for draw in DRAWN:
        draw().save(Path(__file__).with_name(f"{draw.__name__}.svg"))
