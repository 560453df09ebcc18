// Blocks the event loop of a process for good, through its debugger: SIGUSR1 opens it, on this machine alone.
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';

const [pid = ''] = process.argv.slice(2);
process.kill(Number(pid), 'SIGUSR1');

async function debuggerAddress() {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    try {
      const [target] = await (await fetch('http://127.0.0.1:9229/json/list')).json();
      return target.webSocketDebuggerUrl;
    } catch {
      await pause(100);
    }
  }
  throw new Error('The debugger did not open.');
}

const socket = new WebSocket(await debuggerAddress());
await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression: 'for (;;);' } }));
// Long enough to leave; an answer would mean that nothing is blocked.
await pause(1_000);
process.exit(0);
