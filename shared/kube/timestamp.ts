/**
 * Kubernetes writes times to the second; a finer one would come back changed and look like a
 * difference.
 */
export const timestamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** As metrics have a time; 0 for never. */
export const secondsOf = (time: string | undefined): number =>
  time === undefined ? 0 : Date.parse(time) / 1_000;

/** Six digits, which is the only way in which the API server reads a MicroTime. */
export const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
