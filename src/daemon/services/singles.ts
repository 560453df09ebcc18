// Services of which an installation needs one: they work at the node that leads (L7).
import type { Service } from '../../services/service.ts';
import type { Closer } from '../closers.ts';

export interface Singles {
  /** A service that starts when this node leads. */
  service(service: Pick<Service, 'wake' | 'stop'>): { readonly start: () => void; readonly stop: Closer };
  /** A wake that counts only while this node leads: what happened before, the start finds in the rows. */
  during<Args extends readonly unknown[]>(wake: (...args: Args) => void): (...args: Args) => void;
  leads(): boolean;
  /** This node leads from now on. It does so until its process ends. */
  start(): void;
  /** The services of the daemon start: those that are to start as soon as it leads. */
  open(): void;
}

export function makeSingles(): Singles {
  let [leads, isOpen] = [false, false];
  const waiting: (() => void)[] = [];
  const startAll = () => {
    if (leads && isOpen) for (const start of waiting.splice(0)) start();
  };
  return {
    service: ({ wake, stop }) => ({
      start: () => {
        waiting.push(wake);
        startAll();
      },
      stop,
    }),
    during:
      (wake) =>
      (...args) => {
        if (leads) wake(...args);
      },
    leads: () => leads,
    start: () => {
      leads = true;
      startAll();
    },
    open: () => {
      isOpen = true;
    },
  };
}
