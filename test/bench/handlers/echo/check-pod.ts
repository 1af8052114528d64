// The work that both runtimes do per event: what a function reads first, which object and which
// version of it.

export function checkPod(data: unknown): void {
  if (typeof data !== 'object' || data === null || !('metadata' in data))
    throw new TypeError('No object.');
  const { name, resourceVersion } = data.metadata as Record<string, unknown>;
  if (typeof name !== 'string' || typeof resourceVersion !== 'string')
    throw new TypeError('No name.');
}
