// The audit of a backup that lies in an S3, with its key and without.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runAudit } from '../../../functions/storage-audit/command.ts';
import { KEYS, type S3Server } from './s3-server.ts';

export async function auditedWith(
  keyPath: string,
  location: string,
  s3: S3Server,
  dir: string,
): Promise<readonly unknown[]> {
  const credentials = join(dir, 'credentials');
  const { accessKeyId, secretAccessKey } = KEYS;
  const lines = [`aws_access_key_id=${accessKeyId}`, `aws_secret_access_key=${secretAccessKey}`];
  await writeFile(credentials, `[default]\n${lines.join('\n')}\n`);
  const where = ['--s3-endpoint', s3.url, '--s3-cacert', s3.caPath];
  const from = ['--snapshot', location, ...where, '--s3-credentials', credentials, '--json'];
  const told: unknown[] = [];
  for (const args of [[...from, '--encrypt-key-file', keyPath], from]) {
    const out = (text: string): void => void told.push(JSON.parse(text));
    await runAudit(args, { out, err: () => undefined, isWatched: false });
  }
  return told;
}
