// Fetches files at addresses that are still good.
import type { Reads } from '../../tui/feed/reads.ts';
import type { FileNodeWire } from '../../wire/sessions/artifact.ts';
import { addressOf, findFile } from './files.ts';

/** Addresses of files are good for a quarter of an hour: a file is fetched at a new one. */
export async function fetchFresh(event: MouseEvent, client: Reads, sessionId: () => string): Promise<void> {
  const link = (event.target as Element).closest<HTMLAnchorElement>('a[data-file]');
  if (link === null || link.dataset['fresh'] === 'true') return;
  event.preventDefault();
  const nodes = (await client.office.files(sessionId()).catch(() => [])) as readonly FileNodeWire[];
  const found = findFile(nodes, link.dataset['file'] ?? '');
  const address = found === undefined ? null : addressOf(found);
  if (address !== null) link.href = address;
  link.dataset['fresh'] = 'true';
  link.click();
  delete link.dataset['fresh'];
}
