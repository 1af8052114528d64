// Readiness probes: one HTTP GET that must answer 2xx. Over TLS the certificate is checked against
// the given CA, and where one is given against another name than that of the URL.
import { readFile } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';

export async function answers(
  url: string,
  signal: AbortSignal,
  caPath?: string,
  servername?: string,
): Promise<boolean> {
  const ca = caPath === undefined ? undefined : await readFile(caPath);
  const tls = { ...(ca && { ca }), ...(servername !== undefined && { servername }) };
  return new Promise((resolve, reject) => {
    const get = url.startsWith('https:') ? httpsGet : httpGet;
    const request = get(url, { signal, ...tls }, (response) => {
      response.resume();
      const status = response.statusCode ?? 0;
      response.once('end', () => resolve(status >= 200 && status < 300));
    });
    request.once('error', reject);
  });
}
