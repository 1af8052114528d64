// The scene of every run: two instances of the function, and readers that stay: nodes, one of which
// never exists, a namespace, and the whole cluster, which `locate` reads too. Beside them stand two
// of the reader in Go.
import { Rig, SCOPES } from './rig.ts';

const GO_SCOPES = [{ node: 'n1' }, 'cluster'] as const;

export async function openScene(): Promise<Rig> {
  const rig = await Rig.start({ instances: 2 });
  try {
    for (const scope of SCOPES) rig.addReader(scope);
    for (const scope of GO_SCOPES) await rig.addGoReader(scope);
    await rig.addLocate();
    await rig.sweep();
    return rig;
  } catch (error) {
    await rig.stop();
    throw error;
  }
}
