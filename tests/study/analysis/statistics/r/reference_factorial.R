# Reference values for test_factorial_against_r.py: factorial designs, computed by R from data of its packages, and
# from values that it draws with a fixed seed. reference.R says how to install R; these packages are needed too:
#
#   apt-get install r-cran-emmeans
#   Rscript reference_factorial.R       # writes factorial_data.json and factorial_reference.json into this folder
#
# Nothing of it runs in the tests: they read the two files.
suppressMessages({ library(afex); library(car); library(emmeans); library(lmerTest); library(BayesFactor); library(ordinal); library(jsonlite) })
options(contrasts = c("contr.sum", "contr.poly"))
afex_options(check_contrasts = FALSE)
emm_options(lmerTest.limit = 1e5, pbkrtest.limit = 0)

data(md_12.1, package = "afex"); data(obk.long, package = "afex")
set.seed(20261129)
drawn <- function(sizes, levels) { # one group of each size, each person with correlated values at the levels
  people <- sum(sizes); group <- rep(letters[seq_along(sizes)], sizes)
  m <- rnorm(people) + matrix(rnorm(people * levels), people) + outer(group == "b", seq_len(levels) / 2)
  data.frame(person = rep(sprintf("p%02d", seq_len(people)), levels), group = rep(group, levels),
    level = rep(paste0("l", seq_len(levels)), each = people), value = round(c(m), 3))
}
crossed <- function(sizes) { # 2 x 2 between people, with two covariates
  n <- sum(sizes); cell <- rep(seq_along(sizes), sizes); age <- round(runif(n, 18, 60)); skill <- round(rnorm(n), 2)
  data.frame(person = sprintf("p%02d", seq_len(n)), a = c("a1", "a2")[(cell - 1) %% 2 + 1],
    b = c("b1", "b2")[(cell - 1) %/% 2 + 1], age = age, skill = skill,
    value = round(rnorm(n) + 0.05 * age + skill / 2 + (cell == 4), 3))
}
sets <- list(
  md_12.1 = with(md_12.1, data.frame(person = sprintf("p%02d", as.integer(as.character(id))), angle = paste0("a", angle),
    noise = as.character(noise), value = as.numeric(rt))),
  obk = with(obk.long, data.frame(person = sprintf("p%02d", as.integer(as.character(id))), treatment = as.character(treatment),
    gender = as.character(gender), phase = as.character(phase), hour = paste0("h", hour), value = value)),
  balanced = drawn(c(10, 10), 3),
  unbalanced = drawn(c(7, 12), 3),
  between = crossed(c(6, 9, 8, 5)),
  ToothGrowth = with(ToothGrowth, data.frame(person = sprintf("p%02d", seq_along(len)), supp = as.character(supp),
    dose = paste0("d", dose), value = len))
)
short <- sets$obk[sets$obk$hour %in% c("h1", "h3", "h5"), ]
sets$obk_gaps <- short[-c(2, 11, 12, 40, 41, 57, 77, 100, 143), ]
sets$md_gaps <- sets$md_12.1[-c(2, 13, 24, 25, 31, 44, 58), ]
sets$mixed_gaps <- sets$unbalanced[-c(3, 9, 22, 30, 41, 42, 55), ]
sets$mixed_gaps$position <- (match(sets$mixed_gaps$level, c("l1", "l2", "l3")) + as.integer(factor(sets$mixed_gaps$person))) %% 3 + 1
sets$mixed_gaps$age <- 20 + (as.integer(factor(sets$mixed_gaps$person)) * 7) %% 19
sets$flat <- with(expand.grid(i = 1:12, a = c("a1", "a2"), b = c("b1", "b2", "b3")), data.frame(person = sprintf("p%02d", i),
  a = as.character(a), b = as.character(b), value = round(i / 4 + rnorm(72) + (a == "a2"), 2)))[-c(5, 30, 66), ]
end <- merge(ChickWeight[ChickWeight$Time == 21, ], ChickWeight[ChickWeight$Time == 0, ], by = "Chick")
sets$growth <- with(end[order(end$Chick), ], data.frame(person = paste0("c", Chick), diet = paste0("d", Diet.x), birth = weight.y, value = weight.x))
designs <- list(
  obk_gaps = list(between = c("treatment", "gender"), within = c("phase", "hour")),
  md_gaps = list(between = c(), within = c("angle", "noise")),
  mixed_gaps = list(between = "group", within = "level", covariates = c("position", "age")),
  flat = list(between = c(), within = c("a", "b")),
  md_12.1 = list(between = c(), within = c("angle", "noise")),
  obk = list(between = c("treatment", "gender"), within = c("phase", "hour")),
  balanced = list(between = "group", within = "level"),
  unbalanced = list(between = "group", within = "level"),
  between = list(between = c("a", "b"), within = c(), covariates = c("age", "skill")),
  growth = list(between = "diet", within = c(), covariates = "birth"),
  ToothGrowth = list(between = c("supp", "dose"), within = c())
)
factors_of <- function(d, design) { # levels in the order of appearance
  for (f in c(design$between, design$within)) d[[f]] <- factor(d[[f]], levels = unique(d[[f]]))
  d
}
fitted_anova <- function(d, design)
  suppressMessages(suppressWarnings(aov_ez("person", "value", factors_of(d, design), between = design$between,
    within = design$within, include_aov = FALSE)))
p_of_w <- function(w, p, n) { # Anderson (2003), 10.7.4, as in reference.R
  rho <- 1 - (2 * p^2 + p + 2) / (6 * p * n); z <- -n * rho * log(w); f <- p * (p + 1) / 2 - 1
  second <- (p + 2) * (p - 1) * (p - 2) * (2 * p^3 + 6 * p^2 + 3 * p + 2) / (288 * (n * p * rho)^2)
  a <- pchisq(z, f, lower.tail = FALSE); a + second * (pchisq(z, f + 4, lower.tail = FALSE) - a)
}
anova_of <- function(d, design) {
  a <- fitted_anova(d, design); ges <- nice(a, es = "ges")
  es <- function(which) suppressWarnings(anova(a, es = which)[[which]])
  table <- anova(a, es = "pes"); terms <- rownames(table); found <- list()
  if (length(design$within)) {
    s <- suppressWarnings(summary(a$Anova, multivariate = FALSE)); u <- unclass(s$univariate.tests)
    adjusted <- unclass(s$pval.adjustments); spheric <- unclass(s$sphericity.tests)
  } else {
    u <- as.data.frame(a$Anova)
    u <- cbind("Sum Sq" = u[["Sum Sq"]], "num Df" = u$Df, "Error SS" = u["Residuals", "Sum Sq"],
      "den Df" = u["Residuals", "Df"], "F value" = u[["F value"]], "Pr(>F)" = u[["Pr(>F)"]])
    rownames(u) <- rownames(as.data.frame(a$Anova)); adjusted <- spheric <- NULL
  }
  pes <- es("pes"); ges <- es("ges"); free <- nrow(a$data$wide) - nrow(unique(a$data$wide[design$between]))
  if (!length(design$between)) free <- nrow(a$data$wide) - 1
  for (i in seq_along(terms)) {
    t <- terms[i]
    one <- list(ss = u[t, "Sum Sq"], ss_error = u[t, "Error SS"], f = u[t, "F value"], df = u[t, "num Df"],
      df_error = u[t, "den Df"], p = u[t, "Pr(>F)"], pes = pes[i], ges = ges[i])
    if (!is.null(adjusted) && t %in% rownames(adjusted))
      one <- c(one, gg = adjusted[t, "GG eps"], p_gg = adjusted[t, "Pr(>F[GG])"], hf = adjusted[t, "HF eps"],
        p_hf = adjusted[t, "Pr(>F[HF])"], w = spheric[t, "Test statistic"],
        p_w = p_of_w(spheric[t, "Test statistic"], one$df_error / free, free))
    found[[t]] <- lapply(one, unname)
  }
  found
}
simple_of <- function(d, design, factor, at) { # an ANOVA of its own at each level of `at`
  levels <- unique(d[[at]]); rest <- lapply(design, setdiff, at)
  found <- lapply(levels, function(l) anova_of(d[d[[at]] == l, ], rest)[[factor]])
  ps <- sapply(found, function(one) if (is.null(one$gg)) one$p else if (one$gg > 0.75) one$p_hf else one$p_gg)
  names(found) <- levels
  Map(function(one, p) c(one, p_holm = p), found, p.adjust(ps, "holm"))
}
all_terms <- function(keys) unlist(lapply(seq_along(keys), function(i) combn(keys, i, simplify = FALSE)), recursive = FALSE)
means_of <- function(d, design) { # each effect's marginal means; rows are named by the levels
  a <- fitted_anova(d, design); found <- list()
  for (term in Filter(function(one) length(one) < 3, all_terms(c(design$between, design$within)))) {
    e <- as.data.frame(suppressMessages(emmeans(a, term, model = "multivariate")))
    rows <- lapply(seq_len(nrow(e)), function(i)
      list(mean = e$emmean[i], se = e$SE[i], df = e$df[i], low = e$lower.CL[i], high = e$upper.CL[i]))
    names(rows) <- do.call(paste, c(lapply(term, function(f) as.character(e[[f]])), sep = ":"))
    found[[paste(term, collapse = ":")]] <- rows
  }
  found
}
ncp_of <- function(t, df, share) uniroot(function(nc) pt(t, df, nc) - share, t + c(-20, 20), tol = 1e-13)$root
contrasts_of <- function(d, design, planned) { # each contrast: weights of levels by factor; other factors are averaged
  a <- fitted_anova(d, design); keys <- c(design$between, design$within)
  e <- suppressMessages(emmeans(a, keys, model = "multivariate")); grid <- as.data.frame(e)
  weights <- lapply(planned, function(one) Reduce(`*`, lapply(keys, function(f) {
    level <- as.character(grid[[f]])
    if (is.null(one[[f]])) rep(1 / length(unique(level)), nrow(grid)) else { w <- unlist(one[[f]])[level]; ifelse(is.na(w), 0, w) }
  })))
  t <- as.data.frame(contrast(e, weights)); ends <- confint(contrast(e, weights)); adjusted <- p.adjust(t$p.value, "holm")
  d$cell <- if (length(design$between)) do.call(paste, d[design$between]) else "all"
  Map(function(one, i) { # Hedges' g divides by the pooled standard deviation of the people's weighted sums
    w <- Reduce(`*`, c(list(rep(1, nrow(d))), lapply(intersect(names(one), design$within), function(f) {
      found <- unlist(one[[f]])[as.character(d[[f]])]; ifelse(is.na(found), 0, found) })))
    w <- w / prod(unlist(lapply(setdiff(design$within, names(one)), function(f) length(unique(d[[f]])))))
    sums <- tapply(d$value * w, d$person, sum); cell <- tapply(d$cell, d$person, function(x) x[1])
    df <- t$df[i]; s <- sqrt(sum((sums - ave(sums, cell))^2) / df)
    between <- 1
    for (f in intersect(names(one), design$between)) { v <- unlist(one[[f]]); between <- outer(between, v) }
    between <- c(between); s <- s * max(sum(between[between > 0]), -sum(between[between < 0]))
    j <- exp(lgamma(df / 2) - lgamma((df - 1) / 2)) / sqrt(df / 2); r <- j * t$SE[i] / s
    found <- if (!length(design$between)) extractBF(ttestBF(c(sums), rscale = sqrt(2) / 2)) # kept if its integral is exact
    bf <- if (!is.null(found) && found$error < 1e-7) list(bf = found$bf)
    list(weights = one, numbers = c(bf, list(estimate = t$estimate[i], se = t$SE[i], df = df, t = t$t.ratio[i], p = t$p.value[i],
      p_holm = adjusted[i], low = ends$lower.CL[i], high = ends$upper.CL[i],
      g = j * t$estimate[i] / s,
      g_low = r * ncp_of(t$t.ratio[i], df, .975), g_high = r * ncp_of(t$t.ratio[i], df, .025))))
  }, planned, seq_along(planned))
}
polished <- function(formula, d) { # lmer, with Newton's steps at the end: its search stops at six or seven digits
  control <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-13, rhobeg = 1e-3, maxfun = 1e5), calc.derivs = FALSE)
  model <- lme4::lmer(formula, d, control = control); theta <- getME(model, "theta")
  parsed <- lFormula(formula, d); deviance <- do.call(mkLmerDevfun, parsed); deviance(theta)
  if (min(theta) > 1e-4) for (i in 1:4)
    theta <- theta - solve(numDeriv::hessian(deviance, theta), numDeriv::grad(deviance, theta))
  best <- list(par = theta, fval = deviance(theta), conv = 0, feval = 0, message = "")
  found <- mkMerMod(environment(deviance), best, parsed$reTrms, fr = parsed$fr, mc = model@call)
  found@call <- call("lmer", formula = formula, data = d)
  found <- lmerTest:::as_lmerModLT(found, deviance) # its numerical derivatives leave the shared state elsewhere
  deviance(theta); found@vcov_beta <- as.matrix(lme4:::vcov.merMod(found)); found
}
lmer_contrast <- function(model, d, keys) { # last minus first level of the last factor, at the first levels of the others
  e <- suppressMessages(emmeans(model, keys, lmer.df = "satterthwaite")); grid <- as.data.frame(e); last <- keys[length(keys)]
  at <- Reduce(`&`, lapply(setdiff(keys, last), function(f) grid[[f]] == levels(d[[f]])[1]), rep(TRUE, nrow(grid)))
  w <- at * ((grid[[last]] == rev(levels(d[[last]]))[1]) - (grid[[last]] == levels(d[[last]])[1]))
  t <- as.data.frame(contrast(e, list(one = w))); ends <- confint(contrast(e, list(one = w)))
  list(estimate = t$estimate, se = t$SE, t = t$t.ratio, df = t$df, p = t$p.value, low = ends$lower.CL, high = ends$upper.CL)
}
mixed_of <- function(d, design) { # random terms whose variance is 0 are dropped, and the model is fitted anew
  d <- factors_of(d, design); keys <- c(design$between, design$within); random <- "(1 | person)"
  for (x in design$covariates) d[[x]] <- d[[x]] - mean(d[[x]])
  if (length(design$within) > 1) random <- c(random, sprintf("(1 | person:%s)", design$within))
  repeat {
    model <- polished(reformulate(c(paste(keys, collapse = "*"), design$covariates, random), "value"), d)
    theta <- getME(model, "theta"); gone <- which.min(theta)
    if (theta[gone] > 1e-4) break
    random <- random[random != sprintf("(1 | %s)", sub("\\.\\(Intercept\\)", "", names(theta)[gone]))]
  }
  t <- as.data.frame(anova(model, type = 3, ddf = "Satterthwaite")); v <- as.data.frame(VarCorr(model))
  labels <- attr(terms(model), "term.labels"); places <- attr(model.matrix(model), "assign")
  tests <- lapply(seq_along(labels), function(i) { # anova's own L, but without its rounding to seven digits
    L <- matrix(1)
    for (f in strsplit(labels[i], ":")[[1]]) if (f %in% keys) {
      codes <- contr.sum(nlevels(d[[f]])); L <- (codes[-1, , drop = FALSE] - codes[rep(1, nrow(codes) - 1), , drop = FALSE]) %x% L
    }
    whole <- matrix(0, nrow(L), length(places)); whole[, places == i] <- L; one <- contest(model, whole, joint = TRUE)
    list(f = one[["F value"]], df = one$NumDF, df_error = one$DenDF, p = one[["Pr(>F)"]], f_of_anova = t[labels[i], "F value"],
      df_of_anova = t[labels[i], "DenDF"])
  })
  names(tests) <- labels; e <- as.data.frame(suppressMessages(emmeans(model, keys[1], lmer.df = "satterthwaite")))
  means <- lapply(seq_len(nrow(e)), function(i) list(mean = e$emmean[i], se = e$SE[i], df = e$df[i], low = e$lower.CL[i], high = e$upper.CL[i]))
  names(means) <- as.character(e[[keys[1]]])
  groups <- sub("^person:?", "", v$grp[v$grp != "Residual"])
  list(tests = tests, random = setNames(as.list(v$vcov[v$grp != "Residual"]), paste0("person", groups)),
    error = sigma(model)^2, log_likelihood = as.numeric(logLik(model)), first = keys[1], means = means,
    contrast = lmer_contrast(model, d, keys))
}
type_three <- function(d, keys) { # full-rank columns X, and what tests each term: lmerTest's extract_contrasts_type3, not rounded
  f <- reformulate(paste(keys, collapse = "*")); t <- terms(f); labels <- attr(t, "term.labels")
  treated <- setNames(rep(list("contr.treatment"), length(keys)), keys); X <- lmerTest:::ensure_full_rank(model.matrix(f, d, treated), silent = TRUE)
  place <- attr(X, "assign"); every <- cbind(1, do.call(cbind, lapply(labels, function(one) model.matrix(reformulate(paste("0 +", one)), d))))
  colnames(every)[1] <- "(Intercept)"; L <- t(MASS::ginv(X) %*% every); dimnames(L) <- list(colnames(every), colnames(X))
  parts <- strsplit(labels, ":")
  for (i in order(lengths(parts), decreasing = TRUE)) {
    above <- which(sapply(parts, function(one) length(one) > length(parts[[i]]) && all(parts[[i]] %in% one)))
    if (any(place %in% above) && any(place == i))
      L[, place == i] <- resid(lm.fit(L[, place %in% above, drop = FALSE], L[, place == i, drop = FALSE]))
  }
  L <- L[colnames(X), , drop = FALSE]
  L <- lapply(seq_along(labels), function(i) { one <- t(L[, place == i, drop = FALSE]); one[rowSums(abs(one)) > 1e-8, , drop = FALSE] })
  list(X = X, L = setNames(L, labels))
}
fraction_of <- function(d, design) { # a design with missing cells
  d <- factors_of(d, design); keys <- c(design$between, design$within); random <- "(1 | person)"
  if (length(design$within) > 1) random <- c(random, sprintf("(1 | person:%s)", design$within))
  three <- type_three(d, keys); x <- three$X; colnames(x) <- paste0("x", seq_len(ncol(x))); frame <- cbind(d, x)
  repeat {
    model <- polished(reformulate(c("0", colnames(x), random), "value"), frame); theta <- getME(model, "theta"); gone <- which.min(theta)
    if (theta[gone] > 1e-4) break
    random <- random[random != sprintf("(1 | %s)", sub("\\.\\(Intercept\\)", "", names(theta)[gone]))]
  }
  whole <- lmerTest::lmer(reformulate(c(paste(keys, collapse = "*"), random), "value"), d)
  printed <- as.data.frame(suppressMessages(anova(whole, type = 3))); v <- as.data.frame(VarCorr(model))
  tests <- lapply(names(three$L), function(term) { L <- three$L[[term]]; if (!nrow(L)) return(NULL)
    one <- contest(model, L, joint = TRUE)
    list(f = one[["F value"]], df = one$NumDF, df_error = one$DenDF, p = one[["Pr(>F)"]], f_of_anova = printed[term, "F value"],
      df_of_anova = printed[term, "DenDF"]) })
  names(tests) <- names(three$L); cells <- unique(d[keys]); first <- x[match(do.call(paste, cells), do.call(paste, d[keys])), ]
  sum_of <- function(w) { t <- contest1D(model, w, confint = TRUE); list(estimate = t$Estimate, se = t[["Std. Error"]], df = t$df,
    t = t[["t value"]], p = t[["Pr(>|t|)"]], low = t$lower, high = t$upper) }
  means <- lapply(seq_len(nrow(cells)), function(i) { one <- sum_of(first[i, ]); list(mean = one$estimate, se = one$se, df = one$df, low = one$low, high = one$high) })
  names(means) <- do.call(paste, c(lapply(cells, as.character), sep = ":")); groups <- sub("^person:?", "", v$grp[v$grp != "Residual"])
  list(tests = Filter(Negate(is.null), tests), random = setNames(as.list(v$vcov[v$grp != "Residual"]), paste0("person", groups)),
    error = sigma(model)^2, means = means, contrast = sum_of(first[2, ] - first[1, ]))
}
planned <- list(
  md_12.1 = list(H1 = list(angle = list(a8 = 1, a0 = -1)), H2 = list(angle = list(a8 = 1, a0 = -1), noise = list(present = 1, absent = -1)),
    H3 = list(angle = list(a8 = .5, a4 = .5, a0 = -1), noise = list(present = 1))),
  unbalanced = list(H1 = list(group = list(b = 1, a = -1)), H2 = list(level = list(l3 = 1, l1 = -1)),
    H3 = list(group = list(b = 1, a = -1), level = list(l3 = 1, l1 = -1)), H4 = list(group = list(b = 1), level = list(l2 = 1, l1 = -1)),
    H5 = list(group = list(b = 1, a = -1), level = list(l2 = 1))),
  obk = list(H1 = list(treatment = list(A = .5, B = .5, control = -1), phase = list(post = 1, pre = -1)),
    H2 = list(gender = list(M = 1, F = -1))),
  between = list(H1 = list(a = list(a2 = 1, a1 = -1), b = list(b2 = 1, b1 = -1)), H2 = list(a = list(a2 = 1, a1 = -1)))
)
simple <- list(obk = c("phase", "treatment"), md_12.1 = c("angle", "noise"), unbalanced = c("level", "group"),
  between = c("b", "a"))
groups_of <- function(x, y, paired) list(first = x, second = y, paired = paired)
data(laptop_urry, package = "afex")
pairs <- list(
  sleep = groups_of(sleep$extra[sleep$group == 1], sleep$extra[sleep$group == 2], TRUE),
  laptop_urry = with(laptop_urry, groups_of(overall[condition == "laptop"], overall[condition == "longhand"], FALSE)),
  ToothGrowth = with(ToothGrowth, groups_of(len[supp == "VC"], len[supp == "OJ"], FALSE))
)
equivalence_of <- function(one) { # two one-sided tests with shifted means; bounds of 0.5 and 0.8 standard deviations
  x <- one$second; y <- one$first
  sd <- if (one$paired) sd(x - y) else sqrt((var(x) + var(y)) / 2)
  tests <- function(low, high) {
    a <- t.test(x, y, mu = low, alternative = "greater", paired = one$paired)
    b <- t.test(x, y, mu = high, alternative = "less", paired = one$paired)
    ends <- t.test(x, y, paired = one$paired, conf.level = .9)$conf.int
    list(t_above = a$statistic[[1]], p_above = a$p.value, t_below = b$statistic[[1]], p_below = b$p.value,
      df = a$parameter[[1]], low = ends[1], high = ends[2])
  }
  bf <- extractBF(ttestBF(x, y, paired = one$paired, rscale = sqrt(2) / 2))$bf
  list(raw = tests(-2, 3), d = tests(-0.5 * sd, 0.8 * sd), bf = bf)
}
ancova_of <- function(d, design) {
  d <- factors_of(d, design); keys <- design$between; x <- design$covariates
  for (one in x) d[[one]] <- d[[one]] - mean(d[[one]])
  effects <- paste(keys, collapse = "*"); model <- lm(reformulate(c(effects, x), "value"), d)
  t <- as.data.frame(Anova(model, type = 3)); terms <- attr(terms(model), "term.labels")
  tests <- lapply(terms, function(one) list(ss = t[one, "Sum Sq"], f = t[one, "F value"], df = t[one, "Df"],
    p = t[one, "Pr(>F)"]))
  means <- lapply(keys, function(key) {
    e <- as.data.frame(suppressMessages(emmeans(model, key)))
    rows <- lapply(seq_len(nrow(e)), function(i) list(mean = e$emmean[i], se = e$SE[i], df = e$df[i], low = e$lower.CL[i], high = e$upper.CL[i]))
    setNames(rows, as.character(e[[key]]))
  })
  slopes <- anova(model, lm(reformulate(sprintf("%s*(%s)", effects, paste(x, collapse = "+")), "value"), d))
  grid <- suppressMessages(emmeans(model, keys)); last <- keys[length(keys)]; w <- as.numeric(as.data.frame(grid)[[last]] == levels(d[[last]])[2])
  w <- w / sum(w); w[1] <- w[1] - 1; e <- as.data.frame(summary(contrast(grid, list(H1 = w)), infer = TRUE)) # the second level minus the first cell
  contrast <- list(weights = w, estimate = e$estimate, se = e$SE, df = e$df, t = e$t.ratio, p = e$p.value, low = e$lower.CL, high = e$upper.CL)
  list(tests = setNames(tests, terms), slope = as.list(unname(coef(model)[x])), error = deviance(model), means = setNames(means, keys), contrast = contrast,
    unequal = list(f = slopes$F[2], df = slopes$Df[2], df_error = slopes$Res.Df[2], p = slopes[["Pr(>F)"]][2]))
}
above <- function(p, d, eta, J) plogis(c(p[1:(J - 1)], Inf)[d$y] - eta) # eta: a column for each random intercept
below <- function(p, d, eta, J) plogis(c(-Inf, p[1:(J - 1)])[d$y] - eta)
exact_likelihood <- function(p, d, X, J) { # the integral over the random intercept, by a fine grid
  u <- seq(-8.5, 8.5, by = .1); eta <- outer(c(X %*% p[J - 1 + seq_len(ncol(X))]), p[length(p)] * u, "+")
  sum(log(exp(rowsum(log(above(p, d, eta, J) - below(p, d, eta, J)), d$person)) %*% dnorm(u) * .1))
}
laplace_likelihood <- function(p, d, X, J) { # second order at each person's mode
  fixed <- c(X %*% p[J - 1 + seq_len(ncol(X))]); sd <- p[length(p)]; who <- as.integer(factor(d$person)); u <- numeric(max(who))
  for (k in 1:30) {
    eta <- fixed + sd * u[who]; a <- above(p, d, eta, J); b <- below(p, d, eta, J)
    curve <- 1 + sd^2 * c(rowsum(a * (1 - a) + b * (1 - b), who)); step <- (-sd * c(rowsum(1 - a - b, who)) - u) / curve
    if (max(abs(step)) < 1e-14) break
    u <- u + step
  }
  sum(log(a - b)) - sum(u^2) / 2 - sum(log(curve)) / 2
}
ordinal_of <- function(d, design) { # clmm's searches stop at six digits, so Newton's steps over the formulas end them
  d <- factors_of(d, design); keys <- c(design$between, design$within); d$y <- as.integer(factor(d$value)); J <- max(d$y)
  frame <- data.frame(y = factor(d$y), person = factor(d$person)); M <- model.matrix(reformulate(paste(keys, collapse = "*")), d)
  places <- attr(M, "assign")[-1]; labels <- attr(terms(reformulate(paste(keys, collapse = "*"))), "term.labels"); M <- M[, -1, drop = FALSE]
  smaller_of <- function(i) M[, places != i, drop = FALSE]; counts <- sapply(seq_along(labels), function(i) sum(places == i)); complete <- TRUE
  if (nrow(unique(d[keys])) < prod(sapply(keys, function(f) nlevels(d[[f]])))) { # missing cells
    three <- type_three(d, keys); M <- three$X[, -1, drop = FALSE]; L <- lapply(three$L, function(one) one[, -1, drop = FALSE])
    smaller_of <- function(i) M %*% MASS::Null(t(L[[i]])); counts <- sapply(L, nrow); labels <- labels[counts > 0]; complete <- FALSE
  }
  fitted <- function(X, nodes) {
    colnames(X) <- paste0("x", seq_len(ncol(X)))
    m <- clmm(reformulate(c(colnames(X), "(1 | person)"), "y"), data = cbind(frame, X), nAGQ = nodes,
      control = clmm.control(gradTol = 1e-10)) # the search for the modes; with 1e-4 the likelihood has six digits
    f <- function(p) if (nodes == 1) laplace_likelihood(p, d, X, J) else exact_likelihood(p, d, X, J)
    p <- unname(c(coef(m), sqrt(VarCorr(m)$person[1])))
    for (i in 1:3) { H <- numDeriv::hessian(f, p); p <- p - solve(H, numDeriv::grad(f, p)) }
    list(p = p, log_likelihood = f(p), v = solve(-H), clmm = as.numeric(logLik(m)))
  }
  one <- function(nodes) {
    m <- fitted(M, nodes); b <- J - 1 + seq_len(ncol(M))
    tests <- lapply(seq_along(labels), function(i) {
      smaller <- fitted(smaller_of(i), nodes); chi <- 2 * (m$log_likelihood - smaller$log_likelihood)
      list(chi = chi, df = counts[[i]], p = pchisq(chi, counts[[i]], lower.tail = FALSE)) })
    if (!complete) return(list(tests = setNames(tests, labels), sd = m$p[length(m$p)], thresholds = numeric(0), log_odds = numeric(0),
      se = numeric(0), log_likelihood = m$log_likelihood, of_clmm = m$clmm))
    codes <- contr.sum(nlevels(d[[keys[1]]])); L <- matrix(0, nrow(codes), ncol(M)); L[, places == 1] <- codes
    list(tests = setNames(tests, labels), sd = m$p[length(m$p)], thresholds = m$p[1:(J - 1)], log_likelihood = m$log_likelihood,
      of_clmm = m$clmm, log_odds = c(L %*% m$p[b]), se = sqrt(diag(L %*% m$v[b, b] %*% t(L))))
  }
  list(laplace = one(1), quadrature = one(15))
}
data(wine, package = "ordinal")
sets$wine <- with(wine, data.frame(person = paste0("j", judge), temp = as.character(temp), contact = as.character(contact),
  value = as.numeric(rating)))
designs$wine <- list(between = c(), within = c("temp", "contact"))
sets$ratings <- sets$mixed_gaps[c("person", "group", "level", "value")]
sets$ratings$value <- as.numeric(cut(sets$ratings$value, c(-Inf, -.8, .2, 1.2, 2.5, Inf)))
designs$ratings <- list(between = "group", within = "level")
sets$md_fraction <- subset(sets$md_gaps, !(angle == "a8" & noise == "absent")) # one cell of six is missing
sets$fraction <- local({ # 2 between x 3 x 3 within, of which five of 18 cells are missing, and values too
  set.seed(31); d <- expand.grid(i = 1:22, a = c("a1", "a2", "a3"), b = c("b1", "b2", "b3")); d$group <- ifelse(d$i %% 3 == 0, "g2", "g1")
  person <- rnorm(22); own <- matrix(rnorm(66), 22); side <- matrix(rnorm(66) / 2, 22)
  d$value <- round(person[d$i] + own[cbind(d$i, as.integer(d$a))] + side[cbind(d$i, as.integer(d$b))] + rnorm(nrow(d)) + (d$a == "a3") * (d$group == "g2"), 3)
  d <- subset(d, !(a == "a3" & b == "b1") & !(a == "a1" & b == "b3") & !(group == "g2" & a == "a2" & b == "b2"))
  data.frame(person = sprintf("p%02d", d$i), group = d$group, a = as.character(d$a), b = as.character(d$b), value = d$value)[-c(4, 30, 31, 77, 101, 120), ]
})
designs$md_fraction <- designs$md_12.1; designs$fraction <- list(between = "group", within = c("a", "b"))
sets$ratings_fraction <- subset(sets$fraction, a != "a2", c("person", "a", "b", "value"))
sets$ratings_fraction$value <- as.numeric(cut(sets$ratings_fraction$value, c(-Inf, -1, 0, 1, Inf)))
designs$ratings_fraction <- list(between = c(), within = c("a", "b"))
whole <- c("md_12.1", "obk", "balanced", "unbalanced", "between", "ToothGrowth")
gaps <- c("md_gaps", "obk_gaps", "mixed_gaps", "flat", "md_12.1")
reference <- list(
  anova = Map(anova_of, sets[whole], designs[whole]),
  simple = Map(function(n, what) list(factor = what[1], at = what[2],
    effects = simple_of(sets[[n]], designs[[n]], what[1], what[2])), names(simple), simple),
  means = Map(means_of, sets[c("md_12.1", "obk", "unbalanced", "between")], designs[c("md_12.1", "obk", "unbalanced", "between")]),
  contrasts = Map(contrasts_of, sets[names(planned)], designs[names(planned)], planned),
  mixed = Map(mixed_of, sets[gaps], designs[gaps]),
  fraction = Map(fraction_of, sets[c("md_fraction", "fraction")], designs[c("md_fraction", "fraction")]),
  ancova = Map(ancova_of, sets[c("between", "growth")], designs[c("between", "growth")]),
  equivalence = Map(equivalence_of, pairs),
  ordinal = Map(ordinal_of, sets[c("wine", "ratings", "ratings_fraction")], designs[c("wine", "ratings", "ratings_fraction")])
)
write_json(list(sets = lapply(sets, as.list), designs = designs, pairs = pairs), "factorial_data.json", digits = NA, auto_unbox = FALSE)
write_json(reference, "factorial_reference.json", digits = NA, auto_unbox = TRUE, pretty = TRUE)
