// `npm run pictures`: takes the pictures of docs/pictures from real daemons, in real terminals and a real browser. Needs tmux,
// bubblewrap and Chromium.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startFixture } from './fixture.ts';
import { takeOffice } from './office.ts';
import { takePages } from './pages.ts';
import { type Scene, SCENES } from './scenes.ts';
import { closeScreens, openScreen, type Screen } from './screen.ts';
import { svgOf } from './svg.ts';

const ERRAND = fileURLToPath(new URL('../../bin/errand', import.meta.url));
const PICTURES = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));

interface Shown {
  readonly scene: Scene;
  readonly screen: Screen;
}

async function take({ scene, screen }: Shown): Promise<void> {
  await screen.press(scene.keys ?? []);
  await screen.until(scene.until);
  const svg = svgOf({ title: scene.title, columns: scene.columns, lines: screen.lines() });
  writeFileSync(join(PICTURES, `${scene.name}.svg`), svg);
  process.stdout.write(`${scene.name}.svg ${Buffer.byteLength(svg)} bytes\n`);
}

const fixture = await startFixture();
const directory = mkdtempSync('/tmp/errand-pictures-');
try {
  const keyFile = join(directory, 'key');
  writeFileSync(keyFile, fixture.daemon.apiKey);
  // They watch from the beginning, so that they show what happened in the last minutes.
  const screens = SCENES.map((scene) => ({
    scene,
    screen: openScreen(scene, `${ERRAND} ${scene.command} --url ${fixture.daemon.url} --token-file ${keyFile}`),
  }));
  await fixture.work();
  mkdirSync(PICTURES, { recursive: true });
  const [up, down] = [
    screens.filter(({ scene }) => !scene.isDaemonDown),
    screens.filter(({ scene }) => scene.isDaemonDown),
  ];
  for (const shown of up) await take(shown);
  await takeOffice(fixture.daemon, PICTURES);
  await fixture.daemon.kill();
  for (const shown of down) await take(shown);
  await fixture.daemon.restart();
  for (const { screen } of down) await screen.until('● live');
} finally {
  closeScreens();
  await fixture.close();
  rmSync(directory, { recursive: true, force: true });
}
await takePages(PICTURES);
process.exit(0);
