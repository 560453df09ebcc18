// A process that plans deliveries, and is killed in the middle: before the commit that has the given body.
import { systemClock } from '../../../src/domain/clock.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { renderId } from '../../support/store/webhooks.ts';

const [, , file = '', killAt = ''] = process.argv;
const store = openStore(file, systemClock);
let bodies = 0;
for (let more = true; more; ) {
  ({ more } = await store.deliveries.plan((facts, target) => {
    bodies += 1;
    if (bodies === Number(killAt)) process.kill(process.pid, 'SIGKILL');
    return renderId(facts, target);
  }));
}
