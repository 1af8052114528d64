/**
 * Kubernetes writes times to the second; a finer one would come back changed and look like a
 * difference.
 */
export const timestamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
