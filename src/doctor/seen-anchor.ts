// The anchor of the audit log as an examination sees it: verified where the master key can be read.
import type { Locations } from '../config/locations.ts';
import type { AuditAnchor } from '../domain/people/audit-anchor.ts';
import { anchorOf, openAnchor, parseAnchor, readAnchorText } from '../files/audit-anchor.ts';
import { deriveFrom, readMasterKey } from '../files/master-key.ts';
import { makeSeal } from '../operations/audit/audit.ts';

export type SeenAnchor =
  | { readonly kind: 'seen'; readonly anchor: AuditAnchor; readonly isSealVerified: boolean }
  | { readonly kind: 'missing' | 'altered' };

/** Reads it. Never rejects: a file that can't be read is no anchor. */
export async function seeAnchor({ dataDir, masterKeyPath, credentialsDirectory }: Locations): Promise<SeenAnchor> {
  const text = await readAnchorText(dataDir).catch(() => '');
  if (text === null) return { kind: 'missing' };
  const read = parseAnchor(text);
  if (read === null) return { kind: 'altered' };
  const seal = sealWith({ path: masterKeyPath, isCredential: credentialsDirectory !== null });
  if (seal === null) return { kind: 'seen', anchor: anchorOf(read), isSealVerified: false };
  const found = openAnchor(text, seal);
  return found.kind === 'sealed' ? { kind: 'seen', anchor: found.anchor, isSealVerified: true } : { kind: 'altered' };
}

/** Null without a key: that is a finding of its own. */
function sealWith(place: Parameters<typeof readMasterKey>[0]) {
  try {
    return makeSeal(deriveFrom(readMasterKey(place)));
  } catch {
    return null;
  }
}
