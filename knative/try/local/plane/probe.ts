// Readiness probes: one HTTP GET that must answer 2xx; anything else throws what was met instead.
// Over TLS the certificate is checked against the given CA, and where one is given against another
// name than that of the URL.
import { readFile } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';

/** The checks that fail on a server that is not ready, in Kubernetes' own words. */
const FAILED_CHECK = /^\[-\](\S+)/gm;
/** One line of a log. */
const SAID_MAX = 200;

export async function answers(
  url: string,
  signal: AbortSignal,
  caPath?: string,
  servername?: string,
): Promise<true> {
  const ca = caPath === undefined ? undefined : await readFile(caPath);
  const tls = { ...(ca && { ca }), ...(servername !== undefined && { servername }) };
  return new Promise((resolve, reject) => {
    const get = url.startsWith('https:') ? httpsGet : httpGet;
    const request = get(url, { signal, ...tls }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      const status = response.statusCode ?? 0;
      response.once('error', reject).once('end', () => {
        if (status >= 200 && status < 300) resolve(true);
        else reject(new Error(`${url} answers ${status}: ${lacking(body)}`));
      });
    });
    request.once('error', reject);
  });
}

function lacking(body: string): string {
  const checks = [...body.matchAll(FAILED_CHECK)].map(([, name = '']) => name);
  return (checks.length === 0 ? body.trim() : checks.join(', ')).slice(0, SAID_MAX);
}
