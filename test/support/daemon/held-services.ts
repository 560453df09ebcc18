// Background services of a daemon in the test's own process that work when a test says so, one at a time.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Service, ServiceParts } from '../../../src/services/service.ts';

const ROOT = join(import.meta.dirname, '../../..');
const MAKES_ONE = /\bmake(?:Service|KeyedQueue)\(/;
/** After a pass with nothing left to do, a service waits at least this long, or for a wake. */
const SLEEP_MS = 500;

/** The files that make a service, relative to the root. */
export function filesWithServices(): string[] {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  return files
    .map((file) => `src/${file}`)
    .filter((file) => file.endsWith('.ts') && !file.startsWith('src/services/'))
    .filter((file) => MAKES_ONE.test(readFileSync(join(ROOT, file), 'utf8')))
    .toSorted();
}

type MakeService = (parts: ServiceParts) => Service;

interface Held {
  readonly service: Service;
  letGo(): void;
  slept: Promise<void>;
}

/** Makes it. `passes`: files whose services a start waits for; they are never held. */
export function makeHeldServices(passes: readonly string[]) {
  const held = new Map<string, Held[]>();
  let isOpen = false;

  /** Makes a service that is held before each of its passes. */
  function hold(make: MakeService, parts: ServiceParts): Service {
    const file = callerOf(new Error('for its stack').stack!);
    let [gate, sleep] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const work = async (stopping: AbortSignal) => {
      if (!isOpen && !passes.includes(file)) await gate.promise;
      const delayMs = await parts.work(stopping);
      if (delayMs === null || delayMs >= SLEEP_MS) {
        gate = Promise.withResolvers();
        sleep.resolve();
        sleep = Promise.withResolvers();
      }
      return delayMs;
    };
    const service = make({ ...parts, work });
    const others = held.get(file) ?? [];
    others.push({
      service,
      letGo: () => gate.resolve(),
      get slept() {
        return sleep.promise;
      },
    });
    held.set(file, others);
    return service;
  }

  return {
    hold,
    opened: () => [...held.keys()].toSorted(),
    /** Lets the services of a file work until they sleep. */
    pass: async (file: string): Promise<void> => {
      const those = held.get(file);
      expect(those, file).toBeDefined();
      const slept = those!.map((one) => one.slept);
      for (const { letGo, service } of those!) {
        letGo();
        service.wake();
      }
      await Promise.all(slept);
    },
    /** Holds none of them any more. */
    release: () => {
      isOpen = true;
      for (const { letGo } of [...held.values()].flat()) letGo();
    },
  };
}

function callerOf(stack: string): string {
  const files = stack.split('\n').map((line) => /\/(src\/[^:?)]+\.ts)/.exec(line)?.[1]);
  return files.find((file) => file !== undefined && !file.startsWith('src/services/'))!;
}
