// The audit log of a lane's API server: whatever the accounts of our namespace ask, with nothing of
// what they send.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'Metadata', userGroups: ['system:serviceaccounts:ballast-system'] },
    { level: 'None' },
  ],
};

export interface Audit {
  readonly flags: readonly string[];
  readonly logPath: string;
  remove(): Promise<void>;
}

export async function prepareAudit(): Promise<Audit> {
  const dir = await mkdtemp(join(tmpdir(), 'ballast-audit-'));
  const [policy, logPath] = [join(dir, 'policy.json'), join(dir, 'audit.log')];
  await writeFile(policy, JSON.stringify(POLICY));
  await writeFile(logPath, '');
  return {
    flags: [`--audit-policy-file=${policy}`, `--audit-log-path=${logPath}`],
    logPath,
    remove: () => rm(dir, { recursive: true }),
  };
}
