// The users of the kernel that sandboxes run as when the daemon is root, if only that of a user namespace.
import type { Owner } from '../../disk/make-beneath.ts';

/**
 * The uid and gid of sandboxes, and of what an agent's files have been restored for: Debian and systemd assign this one to nobody, so that no
 * other service's files or processes are accessible. It needs no entry in /etc/passwd.
 */
export const SANDBOX_OWNER: Owner = { uid: 61000, gid: 61000 };

/** How many ids there are, from that one on; `config/errand.service` maps as many. */
export const SANDBOX_USERS = 64;

/**
 * Whose commands run as which user of the kernel: those of different users of Errand as different ones, as long as the ids last, because
 * the kernel counts for each of its users what one command could use up for all. `first` is for what belongs to nobody, such as the
 * browser. Null where the daemon can't give files away.
 */
export function ownerFor(first: Owner | null, userSeq: number): Owner | null {
  if (first === null) return null;
  const at = 1 + (userSeq % (SANDBOX_USERS - 1));
  return { uid: first.uid + at, gid: first.gid + at };
}
