// Looks at workspaces whose files the store has recorded: the next look reports the difference only.
import type { Since, Snapshot } from '../../files/snapshots/snapshot.ts';
import type { TreePart, WorkspaceSize } from '../../store/artifacts/workspace-tree.ts';

/** The last look at all files of a session. `except`: paths that have been recorded otherwise since. */
export interface RecordedLook extends Since {
  /** Of the workspace's directory, so that another one in its place is noticed. */
  readonly identity: string | null;
  /** Of the files that are recorded now. */
  readonly size: WorkspaceSize;
}

export interface RecordedLooks {
  /** The last look at a session's workspace, if its directory is still the same. */
  find(sessionSeq: number, identity: string | null): RecordedLook | null;
  /** The files of a look were recorded. One without a token can't be named later. */
  put(sessionSeq: number, look: Omit<RecordedLook, 'token'> & { readonly token: string | null }): void;
  /** It isn't known what was recorded: the store may refuse what it has written, when the disk fails to keep it. */
  forget(sessionSeq: number): void;
  /** The files at some paths were recorded without a look at all. */
  amend(sessionSeq: number, paths: readonly string[], size: WorkspaceSize): void;
}

const MAX_SESSIONS = 10_000;
const MAX_PATHS = 1_000;

/** In memory only: after a start, the first look at a workspace reports all files. */
export function makeRecordedLooks(): RecordedLooks {
  const looks = new Map<number, RecordedLook>();
  const put: RecordedLooks['put'] = (sessionSeq, { token, ...look }) => {
    looks.delete(sessionSeq);
    if (token === null || look.except.length > MAX_PATHS) return;
    looks.set(sessionSeq, { token, ...look });
    const [oldest] = looks.keys();
    if (looks.size > MAX_SESSIONS && oldest !== undefined) looks.delete(oldest);
  };
  return {
    find: (sessionSeq, identity) => {
      const look = looks.get(sessionSeq);
      return look?.identity === identity ? look : null;
    },
    put,
    forget: (sessionSeq) => void looks.delete(sessionSeq),
    amend: (sessionSeq, paths, size) => {
      const look = looks.get(sessionSeq);
      if (look !== undefined) put(sessionSeq, { ...look, size, except: [...new Set([...look.except, ...paths])] });
    },
  };
}

/** The part of a workspace that a snapshot since a look covers; undefined when it covers all. */
export function partOf({ files, gone }: Snapshot, since: RecordedLook | null): TreePart | undefined {
  if (gone === null || since === null) return undefined;
  const paths = new Set([...files.map(({ path }) => path), ...gone, ...since.except]);
  return { paths: [...paths], ...since.size };
}
