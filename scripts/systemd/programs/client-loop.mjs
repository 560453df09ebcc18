// Sends requests, each on a connection of its own, until the file given exists; then prints how many got no answer.
import { existsSync } from 'node:fs';
import { get } from 'node:http';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';

const [stopFile = ''] = process.argv.slice(2);
const TIMEOUT_MS = 60_000;

const request = () =>
  new Promise((resolve) => {
    const sent = get('http://127.0.0.1:8484/healthz', { agent: false, timeout: TIMEOUT_MS }, (response) => {
      response
        .resume()
        .once('end', () => resolve(response.statusCode === 200 ? 'ok' : `status ${response.statusCode}`));
    });
    sent.once('timeout', () => sent.destroy(new Error('no answer')));
    sent.once('error', (error) => resolve(error.message));
  });

let [count, lost, slowestMs] = [0, 0, 0];
async function send() {
  while (!existsSync(stopFile)) {
    const began = performance.now();
    const outcome = await request();
    if (count === 0) console.log('first');
    count += 1;
    slowestMs = Math.max(slowestMs, performance.now() - began);
    if (outcome !== 'ok') {
      lost += 1;
      console.log(outcome);
    }
    await pause(10);
  }
}
await Promise.all([send(), send(), send(), send()]);
console.log(`lost ${lost} of ${count} requests; the longest took ${(slowestMs / 1_000).toFixed(1)} s`);
