// The storm with its other faults: locks and kills of a server throughout, and halfway through an outage that is longer than a run may take.
import { blow as blowKills, type Storm } from '../../../src/selftest/storm/storm.ts';
import type { DaemonProcess } from '../../../test/support/daemon/daemon-process.ts';
import type { Engine } from './engine.ts';
import { type Diary, findVictims, holdLocks, outlast } from './faults.ts';

export interface ChaosRequest {
  readonly engine: Engine;
  readonly kills: number;
  readonly seed: number;
  readonly marker: string;
  report(kill: number): void;
}

export interface ChaosStorm extends Storm {
  readonly diary: Diary;
}

/** Kills the daemon a number of times and leaves it running. Throws when it doesn't start again. */
export async function blow(daemon: DaemonProcess, request: ChaosRequest): Promise<ChaosStorm> {
  const { engine, kills, seed, marker, report } = request;
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
  return { ...storm, diary: { down: storm.down, locks: held, serverDown, outage } };
}
