// The clock of a running daemon: that of its machine, set by its database where several daemons share that (L3).
import { makeFollowingClock, systemClock } from '../domain/clock.ts';

export const daemonClock = makeFollowingClock(systemClock);
