// A storm about one daemon: it is killed at random moments, its database is locked, and once it is down for long.
import { placesOf } from '../../../src/selftest/checks/stored-blobs.ts';
import { blow as blowKills, orphans } from '../../../src/selftest/storm/storm.ts';
import type { DaemonProcess } from '../../../test/support/daemon/daemon-process.ts';
import { errorsIn } from '../checks/logged.ts';
import type { Storm, StormRequest, Subject } from '../subject.ts';
import type { Engine } from './engine.ts';
import { type Diary, findVictims, holdLocks, isExcused, type Loss, outlast } from './faults.ts';

/** Takes both over. */
export function makeOneDaemon(engine: Engine, daemon: DaemonProcess): Subject {
  const look = () => engine.look(daemon);
  return {
    ...daemon,
    look,
    blow: (request) => blow(engine, daemon, request),
    calm: async () => [],
    stop: async (marker, known) => {
      const exit = await daemon.stop();
      await look();
      const left = await orphans(daemon.dataDir, marker, known);
      return exit.code === 0 ? left : [`the clean stop ended with ${exit.signal ?? exit.code}`, ...left];
    },
    checkLeft: (diary) => errorsIn(daemon.stderr(), (at) => isExcused(at, diary)),
    places: () => placesOf(daemon.dataDir),
    close: async (isKept) => {
      await daemon.stop('SIGKILL');
      if (!isKept) await daemon.close();
      const server = await engine.close(isKept);
      return isKept ? [daemon.dataDir, ...(server === null ? [] : [server])] : [];
    },
    logs: () => ({ daemon: daemon.stderr() }),
  };
}

/** The storm with its other faults: locks and kills of a server throughout, and halfway through an outage that is longer than a run may take. */
async function blow(engine: Engine, daemon: DaemonProcess, request: StormRequest): Promise<Storm> {
  const { kills, seed, marker, report } = request;
  const locks = holdLocks(engine, daemon, seed);
  const serverKills = engine.killServer(seed);
  const halfway = Math.ceil(kills / 2);
  let outage: Diary['outage'] = null;
  const storm = await blowKills(
    { ...daemon, restart: () => engine.restart(daemon) },
    {
      seed,
      marker,
      leftMs: (done) => (done < kills ? Number.MAX_SAFE_INTEGER : 0),
      beforeKill: async (kill) => {
        if (kill === halfway) await findVictims(engine, daemon);
      },
      whileDead: async (kill) => {
        if (kill === halfway) outage = await outlast(engine, daemon);
      },
      report,
    },
  );
  const serverDown = await serverKills.stop();
  const held = await locks.stop();
  if (storm.dead !== null) throw new Error(`It did not start: ${storm.dead}`);
  const losses = storm.down.map((stretch): Loss => ({ ...stretch, isKill: true }));
  const diary: Diary = { lossesOf: () => losses, locks: held, serverDown, outage };
  const rows = [
    ['kills', kills],
    ['kills in a start', storm.interrupted],
  ] as const;
  return { ...storm, diary, rows };
}
