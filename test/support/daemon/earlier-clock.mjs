// Preloaded into a daemon (`NODE_OPTIONS=--import`): its wall clock is behind by `$TEST_CLOCK_BEHIND_MS`.
const behindMs = Number(process.env.TEST_CLOCK_BEHIND_MS ?? 0);
const { now } = Date;
Date.now = () => now() - behindMs;
