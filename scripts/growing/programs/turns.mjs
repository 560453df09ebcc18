// Takes turns through the balancer, one after another, until the file given exists; then prints how many were refused or lost.
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import process from 'node:process';

const [keyFile = '', stopFile = ''] = process.argv.slice(2);
const headers = { authorization: `Bearer ${readFileSync(keyFile, 'utf8').trim()}`, 'content-type': 'application/json' };

const turn = (content) =>
  new Promise((resolve) => {
    const sent = request(
      'https://errand.example.com/openapi/v1/chat/completions',
      { method: 'POST', agent: false, rejectUnauthorized: false, headers, timeout: 120_000 },
      (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (piece) => (body += piece));
        response.once('error', (error) => resolve(error.message));
        response.once('end', () =>
          resolve(
            response.statusCode === 200 && body.includes('It is done.') ? 'ok' : `${response.statusCode}: ${body}`,
          ),
        );
      },
    );
    sent.once('timeout', () => sent.destroy(new Error('no answer')));
    sent.once('error', (error) => resolve(error.message));
    sent.end(JSON.stringify({ model: 'errand', messages: [{ role: 'user', content }] }));
  });

let [count, lost, slowestMs] = [0, 0, 0];
async function take() {
  while (!existsSync(stopFile)) {
    const began = performance.now();
    const outcome = await turn('[[tools=1 first=200]] [[text=It is done.]]').catch((error) => String(error));
    count += 1;
    slowestMs = Math.max(slowestMs, performance.now() - began);
    if (outcome !== 'ok') {
      lost += 1;
      console.log(outcome);
    }
  }
}
await Promise.all([take(), take()]);
console.log(`lost ${lost} of ${count} turns; the longest took ${(slowestMs / 1_000).toFixed(1)} s`);
