// What signed addresses name in place of a blob's key: an archive that has still to be packed, or one that has no files.
import type { ArchiveRequest } from '../../domain/sessions/artifact.ts';
import type { ArchiveKind } from '../../execution/artifacts/packing/empty-archives.ts';

const KEY = /^(run|workspace)-(\d+)-(\d+)$/;
const EMPTY = /^empty-(tar\.gz|zip)$/;

export const archiveKey = ({ kind, seq, runSeq }: Required<ArchiveRequest>): string => `${kind}-${seq}-${runSeq}`;

/** Its blob is in no row: each node packs its own. */
export const emptyArchiveKey = (kind: ArchiveKind): string => `empty-${kind}`;

/** Null for the key of a blob. */
export function readArchiveKey(key: string): Required<ArchiveRequest> | { readonly empty: ArchiveKind } | null {
  const [, empty] = EMPTY.exec(key) ?? [];
  if (empty !== undefined) return { empty: empty as ArchiveKind };
  const [, kind, seq, runSeq] = KEY.exec(key) ?? [];
  return kind === undefined ? null : { kind: kind as ArchiveRequest['kind'], seq: Number(seq), runSeq: Number(runSeq) };
}
