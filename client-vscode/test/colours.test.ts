import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

type Triple = [number, number, number];
type Theme = "dark" | "light" | "highContrast" | "highContrastLight";

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { contributes: { colors: { id: string; defaults: Record<Theme, string> }[] } };
const heat = manifest.contributes.colors.filter(({ id }) => id.startsWith("energyLsp.heat"));

/** How colours look to people with full sight and with each of the three kinds of colour blindness (Machado, Oliveira, Fernandes 2009; severity 1). */
const sights: Record<string, [Triple, Triple, Triple]> = {
  full: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

function linear(hex: string): Triple {
  const channel = (at: number): number => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

function times([x, y, z]: readonly [Triple, Triple, Triple], colour: Triple): Triple {
  const row = (weights: Triple): number => Math.min(1, Math.max(0, weights[0] * colour[0] + weights[1] * colour[1] + weights[2] * colour[2]));
  return [row(x), row(y), row(z)];
}

/** CIELAB, where a distance of 2.3 is just noticeable side by side. */
function lab(colour: Triple): Triple {
  const white: [Triple, Triple, Triple] = [[0.4339, 0.3762, 0.1899], [0.2126, 0.7152, 0.0722], [0.0177, 0.1095, 0.8728]];
  const [x, y, z] = times(white, colour).map((value) => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116)) as Triple;
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

test("the steps of the heat are distinguished by everybody, in every theme", () => {
  assert.equal(heat.length, 4);
  for (const theme of ["dark", "light", "highContrast", "highContrastLight"] as const) {
    for (const [sight, matrix] of Object.entries(sights)) {
      const seen = heat.map(({ defaults }) => lab(times(matrix, linear(defaults[theme]))));
      for (const [at, one] of seen.entries()) {
        for (const other of seen.slice(at + 1)) {
          const distance = Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
          assert.ok(distance > 10, `step ${at + 1} of ${theme} for ${sight}: ${distance.toFixed(1)}`);
        }
      }
    }
  }
});

test("the marks in the gutter have the colours of the overview ruler, and fill with the heat", () => {
  for (const theme of ["dark", "light"] as const) {
    const fill = heat.map(({ id, defaults }) => {
      const mark = readFileSync(`media/${id.replace("energyLsp.", "")}-${theme}.svg`, "utf8");
      return Number(new RegExp(`height="([\\d.]+)" rx="[\\d.]+" fill="${defaults[theme]}"`).exec(mark)?.[1]);
    });
    assert.deepEqual(fill, [3, 5.5, 8, 11]);
  }
});
