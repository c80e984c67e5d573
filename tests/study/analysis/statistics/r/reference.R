# Reference values for test_against_r.py, computed by R from public data sets that R and its packages bring along.
#
#   apt-get install r-base-core r-cran-afex r-cran-lmertest r-cran-nlme r-cran-ordinal r-cran-psych \
#       r-cran-effectsize r-cran-bayesfactor r-cran-rstatix r-cran-sandwich r-cran-jsonlite
#   Rscript reference.R       # writes data.json and reference.json into this folder
#
# Nothing of it runs in the tests: they read the two files.
suppressMessages({
  library(afex); library(car); library(lmerTest); library(nlme); library(ordinal); library(psych)
  library(effectsize); library(BayesFactor); library(rstatix); library(sandwich); library(jsonlite)
})
options(contrasts = c("contr.sum", "contr.poly"))

long <- function(person, condition, value, position = NULL) {
  frame <- data.frame(person = as.character(person), condition = as.character(condition), value = as.numeric(value))
  if (!is.null(position)) frame$position <- as.integer(position)
  frame
}
data(sleepstudy, package = "lme4"); data(md_12.1, package = "afex"); data(wine, package = "ordinal")
rounding <- matrix(c(5.40, 5.50, 5.55, 5.85, 5.70, 5.75, 5.20, 5.60, 5.50, 5.55, 5.50, 5.40, 5.90, 5.85, 5.70,
  5.45, 5.55, 5.60, 5.40, 5.40, 5.35, 5.45, 5.50, 5.35, 5.25, 5.15, 5.00, 5.85, 5.80, 5.70, 5.25, 5.20, 5.10,
  5.65, 5.55, 5.45, 5.60, 5.35, 5.45, 5.05, 5.00, 4.95, 5.50, 5.50, 5.40, 5.45, 5.55, 5.50, 5.55, 5.55, 5.35,
  5.45, 5.50, 5.55, 5.50, 5.45, 5.25, 5.65, 5.60, 5.40, 5.70, 5.65, 5.55, 6.30, 6.30, 6.25),
  ncol = 3, byrow = TRUE) # help(friedman.test): Hollander and Wolfe (1973), page 140
bottles <- wine[wine$bottle %in% c(1, 3, 5, 7), ]
orchard <- long(OrchardSprays$rowpos, OrchardSprays$treatment, OrchardSprays$decrease, OrchardSprays$colpos)
teeth <- long(Orthodont$Subject, Orthodont$age, Orthodont$distance, (Orthodont$age - 6) / 2)
sets <- list(
  sleepstudy = long(sleepstudy$Subject, sleepstudy$Days, sleepstudy$Reaction),
  ergoStool = long(ergoStool$Subject, ergoStool$Type, ergoStool$effort),
  Orthodont = teeth,
  md_12.1 = long(md_12.1$id, paste(md_12.1$angle, md_12.1$noise, sep = "_"), md_12.1$rt),
  RoundingTimes = long(rep(1:22, 3), rep(c("round_out", "narrow_angle", "wide_angle"), each = 22), c(rounding)),
  wine = long(bottles$judge, paste(bottles$temp, bottles$contact, sep = "_"), bottles$rating),
  OrchardSprays = orchard,
  OrchardSprays_gaps = orchard[-c(3, 10, 20, 33, 41, 64), ],
  Orthodont_gaps = teeth[-c(2, 11, 12, 40, 57, 77, 100), ]
)
items <- list(attitude = attitude, bfi_A = with(bfi, data.frame(A1 = 7 - A1, A2, A3, A4, A5)))
items$bfi_A <- na.omit(items$bfi_A)[1:300, ]

wide <- function(d) {
  d$condition <- factor(d$condition, levels = unique(d$condition))
  m <- tapply(d$value, list(factor(d$person, levels = unique(d$person)), d$condition), sum)
  m[complete.cases(m), , drop = FALSE]
}
anova_of <- function(d) {
  m <- wide(d); k <- ncol(m); f <- factor(colnames(m), levels = colnames(m))
  s <- summary(Anova(lm(m ~ 1), idata = data.frame(f), idesign = ~f, type = 3), multivariate = FALSE)
  u <- unclass(s$univariate.tests)["f", ]; a <- s$pval.adjustments
  es <- function(which) suppressWarnings(suppressMessages(
    aov_ez("person", "value", d, within = "condition", anova_table = list(es = which))$anova_table[[which]]))
  list(f = u[["F value"]], df = u[["num Df"]], df_error = u[["den Df"]], p = u[["Pr(>F)"]],
    ss = u[["Sum Sq"]], ss_error = u[["Error SS"]], gg = a["f", "GG eps"], p_gg = a["f", "Pr(>F[GG])"],
    hf = a["f", "HF eps"], p_hf = a["f", "Pr(>F[HF])"],
    w = s$sphericity.tests["f", "Test statistic"], p_w_of_r = s$sphericity.tests["f", "p-value"],
    p_w = mauchly_by_the_book(m),
    pes = es("pes"), ges = es("ges"))
}
ncp_of <- function(t, df, share) uniroot(function(nc) pt(t, df, nc) - share, t + c(-20, 20), tol = 1e-13)$root
mauchly_by_the_book <- function(m) { # Anderson (2003), 10.7.4. R's own p has 3 k for 3 p in the second term
  s <- cov(m); k <- ncol(m); p <- k - 1; n <- nrow(m) - 1; h <- contr.helmert(k); h <- h / rep(sqrt(colSums(h^2)), each = k)
  u <- t(h) %*% s %*% h; w <- log(det(u)) - p * log(sum(diag(u)) / p)
  rho <- 1 - (2 * p^2 + p + 2) / (6 * p * n); z <- -n * rho * w; f <- p * (p + 1) / 2 - 1
  second <- (p + 2) * (p - 1) * (p - 2) * (2 * p^3 + 6 * p^2 + 3 * p + 2) / (288 * (n * p * rho)^2)
  a <- pchisq(z, f, lower.tail = FALSE); a + second * (pchisq(z, f + 4, lower.tail = FALSE) - a)
}
pairs_of <- function(d) {
  m <- wide(d); found <- list(); ps <- c()
  for (i in 1:(ncol(m) - 1)) for (j in (i + 1):ncol(m)) {
    t <- t.test(m[, j], m[, i], paired = TRUE)
    g <- hedges_g(m[, j], m[, i], paired = TRUE)$Hedges_g # its interval is by optim, to three digits: so uniroot
    n <- nrow(m); correct <- g / (t$statistic[[1]] / sqrt(n))
    ps <- c(ps, t$p.value)
    bf <- extractBF(ttestBF(m[, j], m[, i], paired = TRUE, rscale = sqrt(2) / 2))$bf
    found[[length(found) + 1]] <- list(first = colnames(m)[i], second = colnames(m)[j],
      difference = t$estimate[[1]], t = t$statistic[[1]], p = t$p.value, low = t$conf.int[1], high = t$conf.int[2],
      g = g, g_low = correct * ncp_of(t$statistic[[1]], n - 1, .975) / sqrt(n),
      g_high = correct * ncp_of(t$statistic[[1]], n - 1, .025) / sqrt(n), bf = bf)
  }
  adjusted <- p.adjust(ps, "holm")
  Map(function(one, p) c(one, p_holm = p), found, adjusted)
}
friedman_of <- function(d) {
  m <- wide(d); n <- nrow(m); k <- ncol(m); t <- friedman.test(m)
  r <- t(apply(m, 1, rank)); sums <- colSums(r); posthoc <- list(); ps <- c()
  error <- 2 * (n * sum(r^2) - sum(sums^2)) / ((n - 1) * (k - 1))       # Conover (1999), section 5.8
  for (i in 1:(k - 1)) for (j in (i + 1):k) {
    apart <- abs(sums[[j]] - sums[[i]])
    nemenyi <- ptukey(apart / n / sqrt(k * (k + 1) / (12 * n)), k, Inf, lower.tail = FALSE)
    ps <- c(ps, 2 * pt(apart / sqrt(error), (n - 1) * (k - 1), lower.tail = FALSE))
    posthoc[[length(posthoc) + 1]] <- list(first = colnames(m)[i], second = colnames(m)[j], nemenyi = nemenyi)
  }
  w <- friedman_effsize(d, value ~ condition | person)$effsize[[1]]
  list(chi = t$statistic[[1]], df = t$parameter[[1]], p = t$p.value, w = w,
    pairs = Map(function(one, p) c(one, conover = p), posthoc, p.adjust(ps, "holm")))
}
intervals_of <- function(d) { # Morey (2008), equations 1 to 3
  m <- wide(d); n <- nrow(m); k <- ncol(m)
  z <- (m - rowMeans(m) + mean(m) - rep(colMeans(m), each = n)) * sqrt(k / (k - 1)) + rep(colMeans(m), each = n)
  half <- qt(.975, n - 1) * apply(z, 2, sd) / sqrt(n)
  list(condition = colnames(m), mean = unname(colMeans(m)), low = unname(colMeans(m) - half),
    high = unname(colMeans(m) + half))
}
deviations <- function(keys, levels, name) {
  last <- levels[length(levels)]
  x <- sapply(levels[-length(levels)], function(l) (keys == l) - (keys == last))
  colnames(x) <- paste0(name, seq_len(ncol(x))); x
}
mixed_of <- function(d, order) {
  levels <- unique(d$condition); x <- deviations(d$condition, levels, "c"); terms <- rep("condition", ncol(x))
  if (order) {
    before <- sapply(seq_len(nrow(d)), function(i) {
      b <- d$condition[d$person == d$person[i] & d$position == d$position[i] - 1]
      if (length(b)) b else "" })
    k <- deviations(before, levels, "k")
    x <- cbind(x, p = d$position - mean(range(d$position)), k)
    terms <- c(terms, "position", rep("carry_over", ncol(k)))
  }
  frame <- data.frame(y = d$value, person = d$person, x)
  model <- lmer(reformulate(c(colnames(x), "(1 | person)"), "y"), frame,
    control = lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-13, rhobeg = 1e-3), calc.derivs = FALSE))
  tests <- lapply(split(seq_along(terms), factor(terms, unique(terms))), function(places) {
    L <- matrix(0, length(places), length(terms) + 1); L[cbind(seq_along(places), places + 1)] <- 1
    t <- contest(model, L, joint = TRUE)
    list(f = t[["F value"]], df = t[["NumDF"]], df_error = t[["DenDF"]], p = t[["Pr(>F)"]]) })
  v <- as.data.frame(VarCorr(model))
  list(tests = tests, participant = v$vcov[1], error = v$vcov[2], log_likelihood = as.numeric(logLik(model)))
}
cumulative_of <- function(d) {
  d$condition <- factor(d$condition, levels = unique(d$condition))
  model <- clm(factor(value) ~ condition, data = d, contrasts = list(condition = "contr.treatment"),
    control = clm.control(gradTol = 1e-12, maxIter = 200))
  places <- grep("condition", names(coef(model))); b <- coef(model)[places]
  v <- vcovCL(model, cluster = d$person, type = "HC0", cadjust = FALSE)[places, places]
  list(log_likelihood = as.numeric(logLik(model)), odds = unname(exp(b)), chi = c(t(b) %*% solve(v) %*% b))
}
reliability_of <- function(x) {
  a <- suppressWarnings(psych::alpha(x)); s <- sapply(x, sd)
  fa <- factanal(x, 1, control = list(nstart = 4, opt = list(factr = 10, pgtol = 1e-14, maxit = 5000)))
  l <- c(fa$loadings) * s; u <- fa$uniquenesses * s^2
  list(alpha = a$total$raw_alpha, rest = unname(a$item.stats$r.drop), omega = sum(l)^2 / (sum(l)^2 + sum(u)),
    feldt = unlist(alpha.ci(a$total$raw_alpha, n.obs = nrow(x), n.var = ncol(x), digits = 15)[c("lower.ci", "upper.ci")], use.names = FALSE))
}
whole <- c("sleepstudy", "ergoStool", "Orthodont", "md_12.1", "RoundingTimes", "OrchardSprays")
reference <- list(
  versions = list(R = R.version.string, packages = sapply(c("afex", "car", "lme4", "lmerTest", "ordinal", "psych",
    "effectsize", "BayesFactor", "rstatix", "sandwich", "nlme"), function(p) as.character(packageVersion(p)))),
  anova = sapply(whole, function(n) anova_of(sets[[n]]), simplify = FALSE),
  pairs = sapply(c("ergoStool", "Orthodont", "RoundingTimes"), function(n) pairs_of(sets[[n]]), simplify = FALSE),
  friedman = sapply(c("ergoStool", "md_12.1", "RoundingTimes", "wine"), function(n) friedman_of(sets[[n]]), simplify = FALSE),
  intervals = sapply(c("ergoStool", "md_12.1"), function(n) intervals_of(sets[[n]]), simplify = FALSE),
  mixed = c(sapply(c("OrchardSprays", "OrchardSprays_gaps"), function(n) mixed_of(sets[[n]], TRUE), simplify = FALSE),
    sapply(c("ergoStool", "Orthodont_gaps", "sleepstudy"), function(n) mixed_of(sets[[n]], FALSE), simplify = FALSE)),
  cumulative = list(wine = cumulative_of(sets$wine)),
  reliability = sapply(items, reliability_of, simplify = FALSE)
)
columns <- function(d) as.list(d)
write_json(list(sets = lapply(sets, columns), items = lapply(items, columns)), "data.json", digits = NA, auto_unbox = TRUE)
write_json(reference, "reference.json", digits = NA, auto_unbox = TRUE, pretty = TRUE)
