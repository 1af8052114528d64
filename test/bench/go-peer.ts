// Builds what we are measured against from the modules under peers/.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { partsSettings } from '../../knative/try/local/parts/settings.ts';

const PEERS = join(import.meta.dirname, 'peers');

/** The path. Beside the parts in their cache; when nothing changed, Go sees that in a second. */
export async function buildGoPeer(name: string, goPackage = '.'): Promise<string> {
  const { cacheDir, goEnv } = partsSettings();
  const path = join(cacheDir, 'bench-peers', name);
  const args = ['build', '-mod=readonly', '-trimpath', '-buildvcs=false', '-o', path, goPackage];
  const go = spawn('go', args, { cwd: join(PEERS, name), env: { ...goEnv }, stdio: 'inherit' });
  const [code] = await once(go, 'exit');
  if (code !== 0) throw new Error(`${name} could not be built: go ended with exit code ${code}`);
  return path;
}
