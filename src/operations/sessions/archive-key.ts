// What signed addresses name in place of a blob's key: an archive that has still to be packed.
import type { ArchiveRequest } from '../../domain/sessions/artifact.ts';

const KEY = /^(run|workspace)-(\d+)-(\d+)$/;

export const archiveKey = ({ kind, seq, runSeq }: Required<ArchiveRequest>): string => `${kind}-${seq}-${runSeq}`;

/** Null for the key of a blob. */
export function readArchiveKey(key: string): Required<ArchiveRequest> | null {
  const [, kind, seq, runSeq] = KEY.exec(key) ?? [];
  return kind === undefined ? null : { kind: kind as ArchiveRequest['kind'], seq: Number(seq), runSeq: Number(runSeq) };
}
