// The API server for a function that asks it nothing but which keys tokens are signed with. It is
// opened at the first question: who is not told to ask for tokens needs no API server.
import type { KubeClient, KubeOptions } from './client.ts';

export class KeyReader {
  readonly #options: KubeOptions;
  #kube: Promise<KubeClient> | undefined;

  constructor(options: KubeOptions) {
    this.#options = options;
  }

  async read(path: string, signal: AbortSignal): Promise<unknown> {
    this.#kube ??= open(this.#options);
    const { readJson } = await import('./read-json.ts');
    return readJson({ kube: await this.#kube }, path, signal);
  }

  async close(): Promise<void> {
    await (await this.#kube)?.close();
  }
}

async function open(options: KubeOptions): Promise<KubeClient> {
  const { openKube } = await import('./client.ts');
  return openKube(options);
}
