// The units of limits and settings, in bytes. Sizes of files are shown to people in units of a thousand (`terminal/sizes.ts`).

export const KB = 1_024;
export const MB: number = 1_024 * KB;
export const GB: number = 1_024 * MB;
