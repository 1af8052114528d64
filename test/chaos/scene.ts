// The scene of every run: two instances of the function, and readers that stay: nodes, one of which
// never exists, a namespace, and the whole cluster, which `locate` reads too.
import { Rig, SCOPES } from './rig.ts';

export async function openScene(): Promise<Rig> {
  const rig = await Rig.start({ instances: 2 });
  try {
    for (const scope of SCOPES) rig.addReader(scope);
    await rig.addLocate();
    await rig.sweep();
    return rig;
  } catch (error) {
    await rig.stop();
    throw error;
  }
}
