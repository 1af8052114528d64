// Where NATS, etcd and the API server of the control plane are that `npm start` holds up.
import { join } from 'node:path';
import { readPartsFile } from '../plane/parts-file.ts';
import { livePlanes } from '../process/run-directory.ts';

export const natsUrlOfPlane = (chosen: string | undefined): Promise<string> =>
  urlOfPart('nats-server', chosen);

export const etcdUrlOfPlane = (chosen: string | undefined): Promise<string> =>
  urlOfPart('etcd', chosen);

export async function kubeconfigOfPlane(chosen: string | undefined): Promise<string> {
  return join(await planeDir(chosen), 'kubeconfig');
}

async function urlOfPart(part: string, chosen: string | undefined): Promise<string> {
  const dir = await planeDir(chosen);
  const parts = await readPartsFile(dir);
  const url = parts.find(({ name }) => name === part)?.url;
  if (url === undefined) throw new Error(`the control plane in ${dir} has no ${part}`);
  return url;
}

/** `chosen` is the directory of one plane; without it there must be just one. */
async function planeDir(chosen: string | undefined): Promise<string> {
  const planes = chosen === undefined ? await livePlanes() : [chosen];
  const [dir, ...others] = planes;
  if (dir === undefined) {
    throw new Error('no control plane runs here; start one with npm start, or name its address');
  }
  if (others.length > 0) {
    const list = planes.join('\n');
    throw new Error(`several control planes run here; choose one with --plane:\n${list}`);
  }
  return dir;
}
