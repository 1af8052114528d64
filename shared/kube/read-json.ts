// What the API server says at a path that is no resource, as a function hands it to its runtime.
import type { KubeClient } from './client.ts';

export async function readJson(
  { kube }: { readonly kube: KubeClient },
  path: string,
  signal: AbortSignal,
): Promise<unknown> {
  const { text } = await kube.raw({ method: 'GET', path, repeat: 'always', signal });
  return JSON.parse(text);
}
