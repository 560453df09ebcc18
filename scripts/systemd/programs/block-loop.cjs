// Loaded into the daemon by NODE_OPTIONS: blocks the event loop for good on SIGUSR2.
const process = require('node:process');

process.on('SIGUSR2', () => {
  for (;;);
});
