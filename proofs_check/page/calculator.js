"use strict";
// Runs a statement's program in doubles: the same instructions the Python views run, read from the page's data.
// Powers of q = 1 − step stay as exponents until they are needed, so that nothing underflows on the way.
const Calculator = (() => {
  const isScaled = (x) => typeof x === "object";

  function value(x) {
    if (!isScaled(x)) return x;
    const root = Math.exp(0.5 * value(x.exponent) * x.logQ);
    return root * value(x.plain) * root;
  }

  function multiply(factors) {
    let plain = 1, power = null;
    for (const factor of factors) {
      if (isScaled(factor) && (power === null || power.logQ === factor.logQ)) {
        power = { logQ: factor.logQ, exponent: (power ? power.exponent : 0) + factor.exponent };
        plain *= factor.plain;
      } else plain *= value(factor);
    }
    return power === null ? plain : { ...power, plain };
  }

  function power(base, exponent) {
    const e = value(exponent);
    if (!isScaled(base)) return Math.pow(base, e);
    return { plain: Math.pow(base.plain, e), exponent: base.exponent * e, logQ: base.logQ };
  }

  function geometric(x, count) {
    const k = value(count);
    if (x === 1) return k;
    if (!isScaled(x) && Math.abs(x - 1) < 0.5) return Math.expm1(k * Math.log1p(x - 1)) / (x - 1); // nothing cancels
    if (!isScaled(x)) return (1 - Math.pow(x, k)) / (1 - x);
    const log = x.exponent * x.logQ;
    if (log === 0) return k;
    const falling = Math.expm1(-Math.abs(log) * k) / Math.expm1(-Math.abs(log));
    return log < 0 ? falling : { plain: falling, exponent: x.exponent * (k - 1), logQ: x.logQ };
  }

  function logMix(weight, x, y) {
    const top = Math.max(x, y), rest = 1 - weight;
    if (Math.abs(top) <= 30) return Math.log1p(weight * Math.expm1(x) + rest * Math.expm1(y));
    return top + Math.log(weight * Math.exp(x - top) + rest * Math.exp(y - top));
  }

  // Σ e^x over the exponents, divided by count, as a logarithm: by expm1 while they are moderate.
  function logMean(exponents, count) {
    const top = exponents.reduce((a, b) => Math.max(a, b), -Infinity);
    const sum = (term) => {
      let total = 0, lost = 0;
      for (const x of exponents) {
        const next = term(x) - lost, sum = total + next;
        lost = sum - total - next;
        total = sum;
      }
      return total;
    };
    if (top <= 600) return Math.log1p(sum(Math.expm1) / count);
    return top + Math.log(sum((x) => Math.exp(x - top)) / count);
  }

  const relativeEntropy = (x) => {
    if (Math.abs(x) >= 0.05) return (1 + x) * Math.log1p(x) - x;
    let total = 0;
    for (let k = 13; k >= 2; k--) total = (k % 2 ? -1 : 1) / (k * (k - 1)) + x * total;
    return x * x * total;
  };

  const expMinusLinear = (y) => {
    if (Math.abs(y) >= 0.5) return Math.expm1(y) - y;
    let total = 0, factorial = 1;
    const terms = [];
    for (let k = 2; k < 16; k++) terms.push((factorial *= k));
    for (const each of terms.reverse()) total = 1 / each + y * total;
    return y * y * total;
  };

  // The log-moment of the sampled Gaussian mechanism, by the trapezoidal rule.
  function sampledGaussian(rate, rho, order) {
    const beta = order - 1;
    if (rate === 1 || rho === 0) return rho * order * beta;
    const spread = Math.sqrt(2 * rho), strip = Math.min(Math.sqrt(90), 3 / spread);
    const step = (2 * Math.PI * strip) / (strip * strip / 2 + 45);
    const reach = Math.ceil((Math.sqrt(2 * (45 + order * Math.LN2)) + 1) / step);
    const centre = Math.round((order * spread) / step);
    const nodes = new Set();
    for (let k = -reach; k <= reach; k++) nodes.add(k).add(k + centre);
    const logs = [], excess = [];
    for (const node of nodes) {
      const x = step * node, tilt = spread * x - rho;
      const gauss = -x * x / 2 - 0.5 * Math.log(2 * Math.PI) + Math.log(step);
      logs.push(order * logMix(rate, tilt, 0) + gauss);
      const drawn = rate * Math.expm1(tilt);
      const term = beta * relativeEntropy(drawn) + (1 + drawn) * expMinusLinear(beta * Math.log1p(drawn));
      excess.push(Math.exp(gauss) * term);
    }
    const top = logs.reduce((a, b) => Math.max(a, b), -Infinity);
    if (top > 2) return top + Math.log(logs.reduce((a, b) => a + Math.exp(b - top), 0));
    return Math.log1p(excess.reduce((a, b) => a + b, 0));
  }

  const operations = {
    add: (terms) => terms.reduce((a, b) => a + value(b), 0),
    mul: multiply,
    power: ([base, exponent]) => power(base, exponent),
    exp: ([x]) => Math.exp(value(x)),
    Expm1: ([x]) => Math.expm1(value(x)),
    log: ([x]) => Math.log(value(x)),
    floordiv: ([top, bottom]) => Math.floor(value(top) / value(bottom)),
    GeometricSum: ([x, count]) => geometric(x, count),
    LogMix: ([weight, x, y]) => logMix(value(weight), value(x), value(y)),
    Pooled: ([slope, length]) => {
      const rise = value(multiply([slope, length])), y = value(length);
      return ((1 + rise) ** 2 + Math.max(0, 1 - value(slope)) ** 2 * y) / (1 + y);
    },
  };

  const wholes = {
    contraction: ([step], values) => {
      const size = number(step, values);
      return size === 1 ? 0 : { plain: 1, exponent: 1, logQ: Math.log1p(-size) };
    },
    SampledGaussian: (parts, values) => sampledGaussian(...parts.map((part) => number(part, values))),
    select: ([left, right, then, otherwise], values) =>
      run(number(left, values) === number(right, values) ? then : otherwise, values),
    LogMeanExp: ([body, index, count], values) => {
      const total = number(count, values), exponents = [];
      for (let i = 1; i <= total; i++) exponents.push(number(body, { ...values, [index]: i }));
      return logMean(exponents, total);
    },
    Accumulated: ([increment, state, count], values) => {
      const total = number(count, values);
      let now = 0, lost = 0;
      for (let i = 0; i < total; i++) {
        const step = number(increment, { ...values, [state]: now }) - lost, next = now + step;
        if (next === now && i > 256) break; // settled
        lost = next - now - step;
        now = next;
      }
      return now;
    },
    Compounded: ([factor, index, cost, count], values) => {
      const total = number(count, values), each = number(cost, values);
      let now = 0;
      for (let i = 0; i < total; i++) now = (now + each) * number(factor, { ...values, [index]: i });
      return now;
    },
    CappedMoment: (parts, values) => {
      const [cost, q, rate, count] = parts.map((part) => number(part, values));
      const top = (cost * q * q) / (1 - q * q), kick = Math.sqrt(cost * (1 - q * q));
      let now = 0;
      for (let i = 0; i < count; i++) {
        const next = logMix(rate, now <= top ? now + cost : (q * Math.sqrt(now) + kick) ** 2, q * q * now);
        if (next === now) break; // settled
        now = next;
      }
      return now;
    },
  };

  function run(program, values) {
    const registers = [];
    for (const [operation, operands, payload] of program) {
      if (operation === "constant") registers.push(payload);
      else if (operation === "leaf") registers.push(values[payload]);
      else if (payload !== null) registers.push(wholes[operation](payload, values));
      else registers.push(operations[operation](operands.map((r) => registers[r])));
    }
    return registers[registers.length - 1];
  }

  const number = (program, values) => value(run(program, values));

  return { number, operations: [...Object.keys(operations), ...Object.keys(wholes), "constant", "leaf"] };
})();
