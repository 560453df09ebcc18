// The file with the anchor of the audit log, sealed with a key derived from the master key.
import { open, readFile, rename } from 'node:fs/promises';
import { timingSafeEqual } from 'node:crypto';
import { dirname, join } from 'node:path';
import { codeOf } from '../domain/errors.ts';
import { type AuditAnchor, fieldsOf } from '../domain/people/audit-anchor.ts';
import { readWhole } from '../wire/shapes/composites.ts';
import {
  anchorDoubt,
  auditAnchor,
  auditLink,
  type AuditAnchorWire,
  doubtOf,
  linkOf,
} from '../wire/people/audit-anchor.ts';

/** A MAC of a text under the key of the audit log. */
export type AnchorSeal = (text: string) => string;

/** `altered`: it is no anchor, or another key has sealed it. */
export type FoundAnchor =
  | { readonly kind: 'sealed'; readonly anchor: AuditAnchor }
  | { readonly kind: 'missing' | 'altered' };

export const anchorPath = (dataDir: string): string => join(dataDir, 'audit-anchor.json');

/** Reads the file. Rejects only when it is there and can't be read. */
export async function readAnchor(dataDir: string, seal: AnchorSeal): Promise<FoundAnchor> {
  const text = await readAnchorText(dataDir);
  return text === null ? { kind: 'missing' } : openAnchor(text, seal);
}

/** The file as it is; null when there is none. */
export async function readAnchorText(dataDir: string): Promise<string | null> {
  try {
    return await readFile(anchorPath(dataDir), 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** The anchor that a text is. */
export function openAnchor(text: string, seal: AnchorSeal): FoundAnchor {
  const read = parseAnchor(text);
  if (read === null) return { kind: 'altered' };
  const anchor = anchorOf(read);
  const [said, due] = [read.seal, sealOf(anchor, seal)].map((hex) => Buffer.from(hex, 'hex'));
  return timingSafeEqual(said!, due!) ? { kind: 'sealed', anchor } : { kind: 'altered' };
}

/** The fields of a text, whoever has sealed it; null when it is no anchor. */
export function parseAnchor(text: string): AuditAnchorWire | null {
  try {
    return readWhole(auditAnchor, JSON.parse(text));
  } catch {
    return null;
  }
}

/** Writes the file so that a crash leaves the old one or the new one, and resolves when it is on the disk. */
export async function writeAnchor(dataDir: string, anchor: AuditAnchor, seal: AnchorSeal): Promise<void> {
  const path = anchorPath(dataDir);
  const text = `${JSON.stringify(wireOf(anchor, seal))}\n`;
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  const directory = await open(dirname(path), 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** It can't be taken for the seal of an entry or of a start, which have the same key. */
function sealOf(anchor: AuditAnchor, seal: AnchorSeal): string {
  return seal(JSON.stringify(['anchor', ...fieldsOf(anchor)]));
}

/** What the fields of an anchor say. */
export function anchorOf(read: AuditAnchorWire): AuditAnchor {
  const { doubt } = read;
  return { end: linkOf(read), doubt: doubt && doubtOf(doubt) };
}

function wireOf(anchor: AuditAnchor, seal: AnchorSeal): AuditAnchorWire {
  const { end, doubt } = anchor;
  return { ...auditLink.render(end), doubt: doubt && anchorDoubt.render(doubt), seal: sealOf(anchor, seal) };
}
