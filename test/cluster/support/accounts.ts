// Clients of the rung's cluster that have the rights of an account, and no others.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceAccounts } from '../../../knative/try/local/cluster/service-accounts.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { Kubectl } from './kubectl.ts';

/** Their kubeconfigs are in `dir`. */
export async function accountsOf(
  kube: KubeClient,
  kubectl: Kubectl,
  dir: string,
): Promise<ServiceAccounts> {
  const view = (field: string): Promise<string> =>
    kubectl.run('config', 'view', '--raw', `--output=jsonpath={.clusters[0].cluster.${field}}`);
  const caPath = join(dir, 'ca.crt');
  await writeFile(caPath, Buffer.from(await view('certificate-authority-data'), 'base64'));
  const reached = { dir, caPath, urlFor: () => view('server') };
  return new ServiceAccounts(kube, reached, () => undefined);
}
