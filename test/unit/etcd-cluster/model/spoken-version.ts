// The minor version that all members of a model speak. It follows the oldest of them, a while after
// the last one runs more; and it throws where a member gets what must not follow it.

/** Between the last member of a newer minor version and what all of them speak. */
const AGREE_TICKS = 4;

const minorOf = (version: string): number => Number(version.split('.')[1]);

export class SpokenVersion {
  /** 0 before there are any members. */
  minor = 0;
  agreedFor = 0;

  copy(): SpokenVersion {
    const copy = new SpokenVersion();
    copy.minor = this.minor;
    copy.agreedFor = this.agreedFor;
    return copy;
  }

  judge(peer: string, version: string, isNew: boolean): void {
    const minor = minorOf(version);
    if (this.minor === 0) return;
    if (minor < this.minor) throw new Error(`${peer} was started with an older version`);
    if (minor > this.minor + 1) throw new Error(`${peer} skipped a minor version`);
    if (isNew && minor !== this.minor) throw new Error(`${peer} joined with a newer version`);
  }

  /** One moment; `versions` are those of members that run, of so many. */
  tick(versions: readonly string[], size: number): void {
    const isWhole = versions.length > 0 && versions.length === size;
    const lowest = Math.min(...versions.map(minorOf));
    if (!isWhole || lowest <= this.minor) this.agreedFor = 0;
    else if (this.minor === 0 || this.agreedFor >= AGREE_TICKS) this.minor = lowest;
    else this.agreedFor += 1;
  }
}
