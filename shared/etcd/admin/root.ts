// The path under which the gateway of a member has its calls: each generation has another one.
// Calls are written for that of 3.4 and later, and an older member is found out by its answer.
import type { Answer, EtcdEndpoint, Gateway, Request } from './gateway.ts';

/** That of calls as they are written. */
const ROOT = '/v3';
const VERSION_BYTES_MAX = 4_096;
/** A member that is alive tells it within milliseconds. */
const ANSWERS_WITHIN_MS = 2_000;

/** As the member tells its version. */
export function rootOf(version: string): string {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 3 || minor >= 4) return ROOT;
  return minor === 3 ? '/v3beta' : '/v3alpha';
}

/** A call to a page that is not there was not carried out, so it is made again. */
export async function postAtRoot(
  gateway: Gateway,
  endpoint: EtcdEndpoint,
  request: Request,
  signal: AbortSignal,
): Promise<Answer> {
  const { path } = request;
  if (!path.startsWith(`${ROOT}/`)) return gateway.post(endpoint, request, signal);
  const at = (root: string) =>
    gateway.post(endpoint, { ...request, path: `${root}${path.slice(ROOT.length)}` }, signal);
  const { roots } = gateway;
  const known = roots.get(endpoint.url);
  const answer = await at(known ?? ROOT);
  if (answer.statusCode !== 404 || known !== undefined) return answer;
  const root = await rootAt(gateway, endpoint, signal);
  if (root === undefined || root === ROOT) return answer;
  roots.set(endpoint.url, root);
  return at(root);
}

/** Undefined where nobody tells his version in time: then the page is not there. */
async function rootAt(
  gateway: Gateway,
  endpoint: EtcdEndpoint,
  signal: AbortSignal,
): Promise<string | undefined> {
  const asked = { path: '/version', body: undefined, token: undefined, isChange: false };
  const request = { ...asked, bytesMax: VERSION_BYTES_MAX };
  const ends = AbortSignal.any([signal, AbortSignal.timeout(ANSWERS_WITHIN_MS)]);
  const answer = await gateway.post(endpoint, request, ends).catch(() => undefined);
  const version = /"etcdserver":"(\d+\.\d+\.\d+)/.exec(answer?.text ?? '')?.[1];
  return answer?.statusCode === 200 && version !== undefined ? rootOf(version) : undefined;
}
