// Raw calls to the API server of a plane, as its admin.
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import { parse } from 'yaml';
import type { PlaneAddress } from '../../../../knative/try/local/plane/address.ts';

export interface Api {
  create(path: string, object: Readonly<Record<string, unknown>>): Promise<void>;
  patch(path: string, patch: Readonly<Record<string, unknown>>): Promise<void>;
  delete(path: string): Promise<void>;
  close(): Promise<void>;
}

export async function openApi(plane: PlaneAddress): Promise<Api> {
  const config = parse(await readFile(plane.kubeconfigPath, 'utf8'));
  const { server } = config.clusters[0].cluster;
  const { token } = config.users[0].user;
  const dispatcher = new Agent({ connect: { ca: await readFile(plane.caPath) } });
  const call = async (method: string, path: string, type: string, body?: unknown) => {
    const { statusCode, body: answer } = await request(`${server}${path}`, {
      dispatcher,
      method: method as 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${text}`);
  };
  return {
    create: (path, object) => call('POST', path, 'application/json', object),
    patch: (path, patch) => call('PATCH', path, 'application/merge-patch+json', patch),
    delete: (path) => call('DELETE', path, 'application/json'),
    close: () => dispatcher.close(),
  };
}

export const configMaps = (namespace: string): string =>
  `/api/v1/namespaces/${namespace}/configmaps`;

export const named = (name: string): { readonly metadata: { readonly name: string } } => ({
  metadata: { name },
});
