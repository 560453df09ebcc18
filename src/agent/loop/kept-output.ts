// What a model is shown of a tool's output: all of it, or its start and end, with the whole stored in the workspace.
import { constants } from 'node:fs';
import { makeDirectoriesBeneath, makeRoot, type Owner } from '../../disk/make-beneath.ts';
import { openFileBeneath } from '../../disk/open-beneath.ts';
import { readDirectoryBeneath } from '../../disk/list-beneath.ts';
import { MB } from '../../domain/byte-units.ts';
import { ErrandError, messageOf } from '../../domain/errors.ts';
import { storableText } from '../../domain/text-pieces.ts';
import { removeBeneath } from '../../disk/remove-beneath.ts';
import type { ModelGrant } from '../port/grants.ts';

/** Maximum characters of a tool's output that a model with a large window is shown. */
export const MAX_SHOWN_CHARACTERS = 30_000;
/** The least that is shown in a very small window, and after many other results of the same reply. */
const MIN_SHOWN_CHARACTERS = 2_000;
const LAST_SHOWN_CHARACTERS = 300;
/** In a small window, one output takes at most about a quarter of the room, at three characters a token. */
const SHOWN_PER_TOKEN = 3 / 4;
const HEAD_SHARE = 2 / 3;

/** Directory of stored outputs in the workspace. It is a by-product, not part of a run's result. */
const OUTPUTS = '.errand/outputs';
/** Limit for all stored outputs of a session; the oldest are removed first. */
const MAX_KEPT_BYTES = 100 * MB;
const MAX_KEPT_FILES = 5_000;
const MAX_NAME_CHARACTERS = 80;

export interface Keeping {
  readonly workspace: string;
  readonly owner: Owner | null;
  /** Id of the call, unique in the run. */
  readonly callId: string;
  readonly model: Pick<ModelGrant, 'contextWindow' | 'maxOutputTokens'>;
  /** Characters of the results that earlier calls of the same reply got. */
  readonly shownBefore: number;
}

/**
 * A tool's output for the journal and the model: well-formed, and never too long. An output that is too long is first stored in
 * the workspace; the text names the file, or says why it could not be stored. Never rejects.
 */
export async function shownOutput(output: string, keeping: Keeping): Promise<string> {
  const clean = storableText(output);
  const limit = shownCharacters(keeping);
  if (clean.length <= limit) return clean;
  const kept = await keepOutput(clean, keeping).then(
    ({ path, size }) => `the whole output, ${size} bytes, is in ${path}`,
    (error: unknown) => `the whole output could not be stored: ${wordsOf(error)}`,
  );
  const headLength = Math.floor(limit * HEAD_SHARE);
  const head = clean.slice(0, headLength);
  const tail = clean.slice(headLength - limit);
  const note = `[… ${clean.length - limit} characters left out here; ${kept} …]`;
  return `${head}\n${note}\n${tail}`.toWellFormed();
}

/** How a shown output names its file. */
const KEPT = /; the whole output, \d+ bytes, is in (\/\.errand\/outputs\/[\w.-]+) …\]/;

/** The file that a shown output names; undefined when it names none. */
export function keptFileIn(shown: string): string | undefined {
  return KEPT.exec(shown)?.[1];
}

/** The first and the last quarter of a shown output. It still names its file, if it has one. */
export function quartersOf(shown: string): string {
  const quarter = Math.floor(shown.length / 4);
  const note = `[… ${shown.length - 2 * quarter} characters left out here to save room${KEPT.exec(shown)?.[0] ?? ' …]'}`;
  return `${shown.slice(0, quarter)}\n${note}\n${shown.slice(-quarter)}`.toWellFormed();
}

/** The results of one reply take about half of the room together: nothing else can be left out for them. */
function shownCharacters({ model, shownBefore }: Pick<Keeping, 'model' | 'shownBefore'>): number {
  const { contextWindow, maxOutputTokens } = model;
  const share = Math.max(MIN_SHOWN_CHARACTERS, Math.floor((contextWindow - maxOutputTokens) * SHOWN_PER_TOKEN));
  const left = share - Math.floor(shownBefore / 2);
  return Math.min(MAX_SHOWN_CHARACTERS, Math.max(LAST_SHOWN_CHARACTERS, left));
}

/** The message may contain a path of the workspace, but never one of the host. */
function wordsOf(error: unknown): string {
  return error instanceof ErrandError ? messageOf(error).replace(/\.$/, '') : 'its file could not be written';
}

/** The agent owns the directory and may have put a link anywhere on the path: no link is followed, nothing is replaced. */
async function keepOutput(
  output: string,
  { workspace, owner, callId }: Keeping,
): Promise<{ path: string; size: number }> {
  const bytes = Buffer.from(output);
  // A tool that only reads has made no workspace.
  await makeRoot(workspace, owner);
  await makeDirectoriesBeneath(workspace, OUTPUTS, { owner });
  await makeRoom(workspace, bytes.length);
  const plain = callId.replaceAll(/[^\w-]+/g, '-').slice(0, MAX_NAME_CHARACTERS) || 'output';
  // Ids are unique in a run, not in a session.
  for (let attempt = 1; ; attempt += 1) {
    const path = `${OUTPUTS}/${attempt === 1 ? plain : `${plain}-${attempt}`}.txt`;
    const written = await writeNew(workspace, path, { bytes, owner });
    if (written) return { path: `/${path}`, size: bytes.length };
  }
}

/** Returns false when the name is taken. */
async function writeNew(
  workspace: string,
  path: string,
  { bytes, owner }: { readonly bytes: Buffer; readonly owner: Owner | null },
): Promise<boolean> {
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  const file = await openFileBeneath(workspace, path, O_WRONLY | O_CREAT | O_EXCL, 0o644).catch((error: unknown) => {
    if (error instanceof ErrandError && error.reason === 'conflict') return undefined;
    throw error;
  });
  if (file === undefined) return false;
  try {
    await file.writeFile(bytes);
    if (owner !== null) await file.chown(owner.uid, owner.gid);
    await file.sync();
    return true;
  } catch (error) {
    await removeBeneath(workspace, path).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
}

/** Removes the oldest stored outputs until another one fits. */
async function makeRoom(workspace: string, size: number): Promise<void> {
  const { entries } = await readDirectoryBeneath(workspace, OUTPUTS);
  const oldestFirst = entries.filter(({ exact }) => exact).sort((a, b) => a.modifiedAt - b.modifiedAt);
  let total = size + oldestFirst.reduce((sum, entry) => sum + entry.size, 0);
  let count = oldestFirst.length;
  for (const entry of oldestFirst) {
    if (total <= MAX_KEPT_BYTES && count < MAX_KEPT_FILES) return;
    await removeBeneath(workspace, `${OUTPUTS}/${entry.name}`);
    total -= entry.size;
    count -= 1;
  }
}
