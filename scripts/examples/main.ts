// Checks the examples that have schemas: `npm run check:examples`. Ends with 1 when one is wrong.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checkShape } from './check-shape.ts';
import { looseEndsOfCompose, looseEndsOfManifests } from './find-loose-ends.ts';

const path = (name: string) => fileURLToPath(new URL(`../../config/${name}`, import.meta.url));

const EXAMPLES = {
  'proxies/traefik.yaml': 'traefik',
  'proxies/traefik-nodes.yaml': 'traefik',
  'examples/compose/compose.yaml': 'compose',
  'examples/kubernetes/errand.yaml': 'kubernetes',
} as const;

for (const [name, kind] of Object.entries(EXAMPLES)) {
  const { parts, problems } = checkShape(kind, readFileSync(path(name), 'utf8'));
  const beside = (file: string) => existsSync(path(`examples/compose/${file}`));
  const loose = {
    compose: () => parts.flatMap((part) => looseEndsOfCompose(part, beside)),
    kubernetes: () => looseEndsOfManifests(parts),
    traefik: () => [],
  }[kind]();
  for (const problem of [...problems, ...loose]) {
    process.stderr.write(`config/${name}: ${problem}\n`);
    process.exitCode = 1;
  }
}
