// The sessions of which a data directory has files: workspaces, or what is noted of them.
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isUuid } from '../domain/ids.ts';
import { sessionOf } from './workspaces.ts';

const OF_NOTE = /\.json(\.new)?$/;

/** Their ids, some at a time, as they are listed: one that has both, or that comes meanwhile, may be there twice or not at all. */
export async function* listLocalSessions(dataDir: string, atOnce: number): AsyncGenerator<readonly string[]> {
  const some = new Set<string>();
  for await (const id of idsIn(dataDir)) {
    if (isUuid(id)) some.add(id);
    if (some.size < atOnce) continue;
    yield [...some];
    some.clear();
  }
  if (some.size > 0) yield [...some];
}

async function* idsIn(dataDir: string): AsyncGenerator<string> {
  for await (const { name } of await opendir(join(dataDir, 'workspaces'))) yield sessionOf(name);
  for await (const { name } of await opendir(join(dataDir, 'snapshots')))
    if (OF_NOTE.test(name)) yield name.replace(OF_NOTE, '');
}
