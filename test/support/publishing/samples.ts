// Files as agents publish them, of each kind that a page shows in its own way.
import { deflateSync } from 'node:zlib';
import { crc32 } from 'node:zlib';
import { aPdf } from '../files/documents.ts';
import { aTable, REPORT } from './report.ts';

const MARKDOWN = `# What the survey found

The survey of **October** covers the 214 m between the slipway and the light. The tide gauge was checked against that of the
[harbour office](https://harbour.example/gauge) on the third.

![The quay at low water](img/quay.png)

## What changed since spring

- The sill has lost **12 cm** at its western end
- [x] Soundings repeated after the storm
- [ ] The divers' report

| Station | Depth | Change | Note |
|:--|--:|--:|:--|
| Slipway | 2.14 | −0.02 | unchanged |
| Bollard 6 | 3.41 | −0.12 | scour at the foot of the wall |
| Light | 4.87 | +0.05 | silting |

> The western end should be looked at again before the winter gales.

### How the figures were made

\`\`\`python
def corrected(depth: float, gauge: float) -> float:
    """Depth above chart datum."""
    return round(depth - gauge + 0.04, 2)  # offset of the staff
\`\`\`

A picture that was not published: ![chart 12](charts/12.png)
`;

const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Tides</title>
<link rel="stylesheet" href="tides.css">
<header><h1>Tides at the north quay</h1><p>This week</p></header>
<main><p><b id="high">–</b> high water</p><p><b>0.6 m</b> low water</p><p><b>14:20</b> next high water</p></main>
<script src="tides.js"></script>
</html>
`;

const CSS = `body { margin: 0; font: 16px/1.5 system-ui, sans-serif; background: #eef4f8; color: #14222d; }
header { padding: 2.5rem; background: #173f5f; color: #fff; }
main { display: grid; gap: 1rem; padding: 2rem; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); }
p { margin: 0; } main p { padding: 1.5rem; background: #fff; border-radius: 8px; } b { display: block; font-size: 1.5rem; }
`;

const CODE = `# Corrects soundings by the tide gauge.
from dataclasses import dataclass

OFFSET = 0.04  # of the staff, in metres


@dataclass(frozen=True)
class Sounding:
    station: str
    depth: float
    gauge: float = 0.0

    def corrected(self) -> float:
        """Depth above chart datum."""
        return round(self.depth - self.gauge + OFFSET, 2)


print(Sounding("Bollard 6", 3.41, 0.02).corrected())
`;

function chunk(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  const body = Buffer.concat([Buffer.from(type), data]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([head, body, sum]);
}

/** The sea below an evening sky. */
function aPicture(width: number, height: number): Buffer {
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const [at, depth] = [y * (1 + width * 3) + 1 + x * 3, y / height];
      const wave = Math.sin(x / 60 + y / 9) * 10;
      const sea = [20 + wave + (1 - depth) * 60, 70 + wave + (1 - depth) * 110, 100 + wave + (1 - depth) * 120];
      const sky = [140 + depth * 180, 160 + depth * 120, 200 + depth * 40];
      rows.set(depth < 0.55 ? sky : sea, at);
    }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8);
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A second of a tone. */
function aSound(): Buffer {
  const samples = 8_000;
  const bytes = Buffer.alloc(44 + samples * 2);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(36 + samples * 2, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt32LE(0x1_0001, 20);
  bytes.writeUInt32LE(8_000, 24);
  bytes.writeUInt32LE(16_000, 28);
  bytes.writeUInt32LE(0x10_0002, 32);
  bytes.write('data', 36);
  bytes.writeUInt32LE(samples * 2, 40);
  for (let n = 0; n < samples; n += 1) bytes.writeInt16LE(Math.round(Math.sin(n / 3) * 8_000), 44 + n * 2);
  return bytes;
}

const picture = aPicture(900, 420);

/** By their paths in a workspace. */
export const SAMPLES: Readonly<Record<string, string | Buffer>> = {
  'survey/index.md': MARKDOWN,
  'survey/img/quay.png': picture,
  'report/index.md': REPORT,
  'report/img/quay.png': picture,
  'report/img/sill.png': picture,
  'report/img/light.png': picture,
  'soundings.csv': aTable(2_500),
  'tides/index.html': HTML,
  'tides/tides.css': CSS,
  'tides/tides.js': "document.querySelector('#high').textContent = '3.4 m';\n",
  'soundings.py': CODE,
  'quay.png': picture,
  'chart.svg':
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 160"><rect width="400" height="160" fill="#eef4f8"/><path d="M0 100q50-70 100 0t100 0 100 0 100 0" fill="none" stroke="#173f5f" stroke-width="4"/></svg>',
  'bell.wav': aSound(),
  'film.webm': Buffer.from([0x1a, 0x45, 0xdf, 0xa3]),
  'survey.pdf': aPdf(['High water at noon.']),
  'soundings.zip': Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.alloc(345_000)]),
};
