import { expect, test } from "vitest";
import { ById } from "../src/by-id.ts";

test("what is in flight is found by its id, whatever else came and went", () => {
  const table = new ById<{ id: number }>();
  const map = new Map<number, { id: number }>();
  let seed = 1;
  const below = (limit: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (seed >>> 8) % limit;
  };
  for (let id = 1; id <= 4_000; id++) {
    const item = { id };
    table.add(item);
    map.set(id, item);
    // Some stay long, most go soon; at times there are many, at times nearly none.
    const keep = Math.floor(id / 500) % 2 === 0 ? 100 : 3;
    while (map.size > keep) {
      const gone = [...map.keys()][Math.min(below(map.size), below(map.size))] as number;
      expect(table.take(gone)).toBe(map.get(gone));
      map.delete(gone);
      expect(table.get(gone)).toBeUndefined();
    }
    if (id % 100 === 0) {
      expect(table.all()).toEqual([...map.values()]);
      for (const [known, item] of map) expect(table.get(known)).toBe(item);
    }
    if (id % 1_400 === 0) {
      table.clear();
      map.clear();
    }
    expect(table.size).toBe(map.size);
  }
});

test("an id that was not given is nobody's", () => {
  const table = new ById<{ id: number }>();
  for (const id of [1, 2, 3]) table.add({ id });
  for (const id of [0, 4, 1.5, -1, Number.NaN, 2 ** 32 + 1, "1" as unknown as number]) {
    expect(table.get(id)).toBeUndefined();
    expect(table.take(id)).toBeUndefined();
  }
  expect(table.all().map(({ id }) => id)).toEqual([1, 2, 3]);
});
