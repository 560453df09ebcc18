// A process that plans deliveries, and is killed in the middle: before the commit that has the given body.
import { systemClock } from '../../../src/domain/clock.ts';
import { openStore } from '../../support/store/open-store.ts';
import { renderId } from '../../support/store/webhooks.ts';

const [, , file = '', killAt = ''] = process.argv;
let bodies = 0;
const store = openStore(file, systemClock, {
  renderBody: (facts, target) => {
    bodies += 1;
    if (bodies === Number(killAt)) process.kill(process.pid, 'SIGKILL');
    return renderId(facts, target);
  },
});
for (let more = true; more; ) ({ more } = await store.deliveries.plan());
