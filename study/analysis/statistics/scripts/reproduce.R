# Reproduce every row of tests.csv from analysed.csv.
#
# Run `Rscript reproduce.R [FOLDER]`. The folder has analysed.csv, rounds.csv and tests.csv; by default it is the
# current one. Packages: afex (analyses of variance), lmerTest (linear mixed models), ordinal (cumulative-link
# model). Without one of them its rows are left out. The exit code is 1 if a number differs by more than a relative
# 1e-6. Differences below 1e-12 count as none; for Nemenyi's test below 1e-10, because ptukey is not more exact.
# Mauchly's p is computed by the formula of Anderson (2003, 10.7.4): one term of R's own differs from it.
study <- list()

options(contrasts = c("contr.sum", "contr.poly"), warn = -1)
arguments <- commandArgs(trailingOnly = TRUE)
folder <- if (length(arguments)) arguments[1] else "."
read <- function(name) read.csv(file.path(folder, name), colClasses = "character", encoding = "UTF-8", na.strings = character(0))
has <- function(package) suppressMessages(suppressWarnings(requireNamespace(package, quietly = TRUE)))
packages <- sapply(c("afex", "lmerTest", "ordinal"), has)
minus <- " \u2212 "
corrections <- c("Huynh\u2013Feldt", "Greenhouse\u2013Geisser")
columns <- c("n", "left_out", "statistic", "df1", "df2", "p", "p_adjusted", "effect", "effect_low", "effect_high",
  "effect2", "difference", "difference_low", "difference_high", "bayes_factor")
rows <- read("analysed.csv")
rows$value <- as.numeric(rows$value); rows$position <- as.integer(rows$order_position)
if (is.null(rows$group)) rows$group <- ""
covariates <- paste0("covariate_", study$covariates, recycle0 = TRUE); for (one in covariates) rows[[one]] <- as.numeric(rows[[one]])
rounds <- read("rounds.csv")
round_of <- setNames(rounds$condition, paste(rounds$participant, rounds$order_position))
levels_of <- unlist(study$levels); played_by <- unlist(study$played_by); cells <- study$cells
level_at <- function(conditions, factor) vapply(conditions, function(one) cells[[one]][[factor]], "")

found <- new.env() # rows by measure, test and term; each is a list of named numbers
reasons <- new.env() # why rows are not computed, by row or by measure
key_of <- function(measure, test, term) paste(measure, test, term, sep = "\n")
add <- function(measure, test, term, row) { assign(key_of(measure, test, term), row, envir = found); invisible(row) }
adjust <- function(measure, test, family) { # corrects the named rows together after Holm
  if (!length(family)) return(invisible())
  ps <- p.adjust(sapply(family, `[[`, "p"), "holm")
  for (i in seq_along(family)) add(measure, test, names(family)[i], c(family[[i]], p_adjusted = ps[[i]]))
}

# Analysis of variance, by afex
mauchly <- function(w, p, df) {
  steps <- p * (p + 1) / 2 - 1; rho <- 1 - (2 * p^2 + p + 2) / (6 * p * df); z <- -df * rho * log(w)
  more <- (p + 2) * (p - 1) * (p - 2) * (2 * p^3 + 6 * p^2 + 3 * p + 2) / (288 * (df * p * rho)^2)
  a <- pchisq(z, steps, lower.tail = FALSE); a + more * (pchisq(z, steps + 4, lower.tail = FALSE) - a)
}
epsilon_of <- function(a, name, p) { # Greenhouse and Geisser's epsilon of a singular covariance
  l <- Re(eigen(solve(crossprod(a$P[[name]]), a$SSPE[[name]]))$values); sum(l)^2 / (p * sum(l^2))
}
anova_of <- function(d, between, within) { # each effect: numbers with the correction in use, without, and sphericity
  if (!length(between)) between <- NULL
  if (!length(within)) within <- NULL
  a <- suppressMessages(afex::aov_ez("id", "value", d, between = between, within = within, include_aov = FALSE,
    fun_aggregate = mean))
  t <- as.data.frame(anova(a, es = c("ges", "pes"), correction = "none"))
  s <- if (length(within)) summary(a$Anova, multivariate = FALSE) else NULL
  n <- length(unique(d$id)); cells_between <- if (length(between)) nrow(unique(d[between])) else 1
  tests <- lapply(rownames(t), function(name) {
    one <- t[name, ]
    plain <- c(n = n, statistic = one$F, df1 = one[["num Df"]], df2 = one[["den Df"]], p = one[["Pr(>F)"]], effect = one$pes,
      effect2 = one$ges)
    inner <- intersect(strsplit(name, ":")[[1]], within)
    p <- prod(vapply(inner, function(f) length(unique(d[[f]])) - 1, 0))
    if (!length(inner) || p < 2) return(list(used = plain, all = list(uncorrected = plain), name = ""))
    whole <- name %in% rownames(s$sphericity.tests) # car leaves them out if cells do not vary
    gg <- if (whole) s$pval.adjustments[name, "GG eps"] else epsilon_of(a$Anova, name, p)
    hf <- if (whole) s$pval.adjustments[name, "HF eps"] else ((n - cells_between + 1) * p * gg - 2) / (p * (n - cells_between - p * gg))
    w <- if (whole) s$sphericity.tests[name, "Test statistic"]
    corrected <- function(epsilon) { x <- plain; x[c("df1", "df2")] <- epsilon * x[c("df1", "df2")]
      x["p"] <- pf(x["statistic"], x["df1"], x["df2"], lower.tail = FALSE); x }
    all <- setNames(list(corrected(min(hf, 1)), corrected(gg), plain), c(corrections, "uncorrected"))
    used <- corrections[if (gg > .75) 1 else 2]
    list(used = all[[used]], all = all, name = used, mauchly = if (whole) c(n = n, statistic = w, df1 = p * (p + 1) / 2 - 1,
      p = mauchly(w, p, n - cells_between), effect = gg, effect2 = hf))
  })
  setNames(tests, rownames(t))
}
named <- function(test, name) if (name == "") test else paste0(test, ", ", name)
complete <- function(d, keys) { # matrix of those with a value in all of the conditions, and how many lack one
  if (length(study$groups)) {
    able <- Filter(function(g) all(played_by[keys] %in% c("", g)), study$groups)
    d <- d[d$group %in% able, ]
  }
  v <- d[!is.na(d$value), ]
  m <- tapply(v$value, list(v$participant, factor(v$condition, levels = study$conditions)), mean)[, keys, drop = FALSE]
  whole <- m[complete.cases(m), , drop = FALSE]; list(values = whole, left_out = nrow(m) - nrow(whole))
}
repeated_rows <- function(measure, d, known) {
  one <- complete(d, known); m <- one$values
  long <- data.frame(id = factor(rep(seq_len(nrow(m)), ncol(m))), f = factor(rep(seq_len(ncol(m)), each = nrow(m))), value = c(m))
  test <- anova_of(long, NULL, "f")$f
  for (name in names(test$all)) add(measure, paste0("repeated-measures ANOVA, ", name), "condition", c(test$all[[name]], left_out = one$left_out))
  if (!is.null(test$mauchly)) add(measure, "Mauchly's test", "sphericity", test$mauchly)
  list(condition = key_of(measure, paste0("repeated-measures ANOVA, ", if (test$name == "") "uncorrected" else test$name), "condition"))
}
grouped_rows <- function(measure, d) {
  v <- d[!is.na(d$value) & d$group %in% study$groups, ]; v$level <- levels_of[v$condition]
  people <- table(unique(v[c("participant", "level")])$participant); whole <- names(people)[people == length(unique(v$level))]
  left_out <- length(people) - length(whole); v <- v[v$participant %in% whole, ]
  long <- data.frame(id = factor(v$participant), group = factor(v$group), level = factor(v$level), value = v$value)
  tests <- anova_of(long, "group", "level"); keys <- list()
  for (name in names(tests)) {
    term <- if (name == "group:level") "interaction" else name; test <- named("mixed ANOVA", tests[[name]]$name)
    add(measure, test, term, c(tests[[name]]$used, left_out = left_out)); keys[[term]] <- key_of(measure, test, term)
    if (!is.null(tests[[name]]$mauchly)) add(measure, "Mauchly's test", "sphericity", tests[[name]]$mauchly)
  }
  keys
}

# Linear mixed models, by lmerTest; lmer's search stops at six or seven digits, so Newton's steps end it
polished <- function(formula, d) {
  control <- lme4::lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-13, rhobeg = 1e-3, maxfun = 1e5), calc.derivs = FALSE)
  model <- lme4::lmer(formula, d, control = control); theta <- lme4::getME(model, "theta")
  parsed <- lme4::lFormula(formula, d); deviance <- do.call(lme4::mkLmerDevfun, parsed); deviance(theta)
  for (i in 1:4) theta <- theta - solve(numDeriv::hessian(deviance, theta), numDeriv::grad(deviance, theta))
  best <- list(par = theta, fval = deviance(theta), conv = 0, feval = 0, message = "")
  fit <- lme4::mkMerMod(environment(deviance), best, parsed$reTrms, fr = parsed$fr, mc = model@call)
  fit@call <- call("lmer", formula = formula, data = d)
  fit <- lmerTest:::as_lmerModLT(fit, deviance); deviance(theta); fit@vcov_beta <- as.matrix(lme4:::vcov.merMod(fit)); fit
}
mixed_tests <- function(d, x, random, hypotheses, sums = list()) { # F tests of the hypotheses, weighted sums, and the estimates
  colnames(x) <- paste0("x", seq_len(ncol(x))); frame <- cbind(d, x)
  if (length(random)) {
    model <- polished(reformulate(c("0", colnames(x), random), "value"), frame)
    tests <- lapply(hypotheses, function(L) { t <- lmerTest::contest(model, L, joint = TRUE)
      c(statistic = t[["F value"]], df1 = t[["NumDF"]], df2 = t[["DenDF"]], p = t[["Pr(>F)"]]) })
    sums <- lapply(sums, function(w) { t <- lmerTest::contest1D(model, w, confint = TRUE); c(statistic = t[["t value"]], df1 = t$df,
      p = t[["Pr(>|t|)"]], difference = t$Estimate, difference_low = t$lower, difference_high = t$upper) })
    return(list(tests = tests, estimates = lme4::fixef(model), sums = sums))
  }
  model <- lm(reformulate(c("0", colnames(x)), "value"), frame); b <- coef(model); df <- df.residual(model)
  tests <- lapply(hypotheses, function(L) { e <- L %*% b; f <- c(t(e) %*% solve(L %*% vcov(model) %*% t(L), e)) / nrow(L)
    c(statistic = f, df1 = nrow(L), df2 = df, p = pf(f, nrow(L), df, lower.tail = FALSE)) })
  sums <- lapply(sums, function(w) { e <- sum(w * b); se <- sqrt(c(w %*% vcov(model) %*% w)); half <- se * qt(.975, df)
    c(statistic = e / se, df1 = df, p = 2 * pt(abs(e / se), df, lower.tail = FALSE), difference = e, difference_low = e - half, difference_high = e + half) })
  list(tests = tests, estimates = b, sums = sums)
}
deviations <- function(keys, known) {
  x <- sapply(known[-length(known)], function(one) (keys == one) - (keys == known[length(known)]))
  matrix(x, length(keys))
}
products <- function(a, b) do.call(cbind, lapply(seq_len(ncol(a)), function(i) a[, i] * b))
independent <- function(x) { q <- qr(x, tol = 1e-8); sort(q$pivot[seq_len(q$rank)]) }
mixed_rows <- function(measure, d, plan) {
  if (length(study$groups)) d <- d[d$group %in% study$groups, ]
  known <- intersect(study$conditions, d$condition); before <- round_of[paste(d$participant, d$position - 1)]; before[is.na(before)] <- ""
  if (length(study$groups)) {
    levels <- unique(levels_of[known]); carried <- unique(levels_of); before <- ifelse(before == "", "", levels_of[before])
    group <- deviations(d$group, intersect(study$groups, d$group)); level <- deviations(levels_of[d$condition], levels)
    blocks <- list(intercept = matrix(1, nrow(d)), group = group, level = level, interaction = products(group, level))
  } else {
    carried <- study$conditions; blocks <- list(intercept = matrix(1, nrow(d)), condition = deviations(d$condition, known))
  }
  blocks$position <- matrix(d$position - mean(range(d$position))); blocks$carry_over <- deviations(before, carried)
  terms <- rep(names(blocks), sapply(blocks, ncol)); x <- do.call(cbind, blocks); kept <- independent(x); terms <- terms[kept]
  names <- setdiff(unique(terms), "intercept"); hypotheses <- lapply(names, function(one) diag(length(terms))[terms == one, , drop = FALSE])
  frame <- data.frame(value = d$value, id = factor(d$participant))
  tests <- mixed_tests(frame, x[, kept, drop = FALSE], if (length(plan$random)) "(1 | id)", hypotheses)$tests; keys <- list()
  for (i in seq_along(names)) {
    add(measure, "linear mixed model", names[i], c(tests[[i]], n = nlevels(frame$id), left_out = 0))
    if (!names[i] %in% c("position", "carry_over")) keys[[names[i]]] <- key_of(measure, "linear mixed model", names[i])
  }
  keys
}

# Contrasts within participants
ncp_of <- function(t, df, share) uniroot(function(nc) pt(t, df, nc) - share, t + c(-1, 1) * (10 + abs(t)), tol = 1e-13)$root
t_row <- function(t, df, se, ratio) {
  half <- se * qt(.975, df); scale <- exp(lgamma(df / 2) - lgamma((df - 1) / 2)) / sqrt(df / 2) * ratio
  c(statistic = t, df1 = df, p = 2 * pt(abs(t), df, lower.tail = FALSE), difference = t * se, difference_low = t * se - half,
    difference_high = t * se + half, effect = scale * t, effect_low = scale * ncp_of(t, df, .975), effect_high = scale * ncp_of(t, df, .025))
}
bayes_factor <- function(t, n, df) { # Rouder et al. (2009), equation 1; n of a contrast of cells: (deviation / standard error)^2
  logged <- function(u) { wide <- 1 + n * exp(u) / 2
    -log(2 * pi) / 2 - u / 2 - exp(-u) / 2 - log(wide) / 2 - (df + 1) / 2 * (log1p(t^2 / (wide * df)) - log1p(t^2 / df)) }
  peak <- max(logged(seq(-6, 80, .1))); part <- function(a, b) integrate(function(u) exp(logged(u) - peak), a, b, rel.tol = 1e-10, subdivisions = 1000)$value
  exp(min(max(log(part(-6, 0) + part(0, 6) + part(6, 80)) + peak, -700), 700))
}
equivalence <- "equivalence (two one-sided t tests)"
add_equivalence <- function(measure, name, difference, se, df, margin, sd) { # numbers of the one-sided test with the larger p
  if (is.null(margin)) return(invisible())
  bound <- margin[[1]] * (if (margin[[2]] == "d") sd else 1); t <- c(difference + bound, difference - bound) / se; half <- se * qt(.95, df)
  p <- c(pt(t[1], df, lower.tail = FALSE), pt(t[2], df)); i <- which.max(p)
  add(measure, equivalence, name, c(statistic = t[i], df1 = df, p = p[i], effect = bound, difference = difference,
    difference_low = difference - half, difference_high = difference + half))
}
contrast_rows <- function(measure, d, known, test, planned) {
  family <- list()
  for (one in planned) {
    weights <- unlist(one$weights); used <- intersect(study$conditions, names(weights)[weights != 0]); if (!all(used %in% known)) next
    data <- complete(d, used); sums <- c(data$values %*% (weights[used] / (sum(abs(weights)) / 2))); n <- length(sums)
    if (n < 3 || diff(range(sums)) <= 1e-14 * max(abs(sums))) next
    t <- t.test(sums)$statistic[[1]]
    family[[one$name]] <- c(t_row(t, n - 1, sd(sums) / sqrt(n), 1 / sqrt(n)), n = n, left_out = data$left_out, bayes_factor = bayes_factor(t, n, n - 1))
    add_equivalence(measure, one$name, mean(sums), sd(sums) / sqrt(n), n - 1, one$margin, sd(sums))
  }
  adjust(measure, test, family)
}
pairs_of <- function(known) {
  if (length(known) < 2) return(list())
  pairs <- combn(known, 2, simplify = FALSE)
  if (length(study$groups)) pairs <- Filter(function(two) length(setdiff(unique(played_by[two]), "")) < 2, pairs)
  lapply(pairs, function(two) list(name = paste0(study$labels[[two[2]]], minus, study$labels[[two[1]]]), weights = setNames(list(1, -1), rev(two))))
}

# Ranks, ratings, and the one-way ANOVA
rank_rows <- function(measure, d, known) {
  one <- complete(d, known); m <- one$values; n <- nrow(m); k <- ncol(m); t <- friedman.test(m); if (n < 3) return(list())
  shared <- c(n = n, left_out = one$left_out); ranks <- t(apply(m, 1, rank)); means <- colMeans(ranks); chi <- t$statistic[[1]]
  add(measure, "Friedman's test", "condition", c(shared, statistic = chi, df1 = k - 1, p = t$p.value, effect = chi / (n * (k - 1))))
  error <- sum(sweep(ranks, 2, means)^2); df <- (n - 1) * (k - 1); family <- list()
  for (two in combn(k, 2, simplify = FALSE)) {
    apart <- means[[two[2]]] - means[[two[1]]]; name <- paste0(study$labels[[known[two[2]]]], minus, study$labels[[known[two[1]]]])
    add(measure, "Nemenyi", name, c(shared, statistic = apart, p_adjusted = ptukey(abs(apart) / sqrt(k * (k + 1) / (12 * n)), k, Inf, lower.tail = FALSE)))
    p <- if (error > 1e-12) 2 * pt(abs(apart) / sqrt(2 * error / (n * df)), df, lower.tail = FALSE) else as.numeric(apart == 0)
    family[[name]] <- c(shared, statistic = apart, p = p)
  }
  adjust(measure, "Conover", family); list(condition = key_of(measure, "Friedman's test", "condition"))
}
one_way_rows <- function(measure, v) {
  t <- anova(lm(value ~ factor(condition), v)); ss <- t[["Sum Sq"]]; ms <- t[["Mean Sq"]][2]
  add(measure, "one-way ANOVA", "condition", c(statistic = t$F[1], df1 = t$Df[1], df2 = t$Df[2], p = t[["Pr(>F)"]][1],
    effect = ss[1] / sum(ss), effect2 = (ss[1] - t$Df[1] * ms) / (sum(ss) + ms)))
  list(condition = key_of(measure, "one-way ANOVA", "condition"))
}
cumulative_rows <- function(measure, v, known) { # the covariance is clustered by participant
  v$y <- factor(v$value); v$f <- factor(v$condition, levels = known)
  m <- ordinal::clm(y ~ f, data = v, contrasts = list(f = "contr.treatment"), control = ordinal::clm.control(gradTol = 1e-12, maxIter = 200))
  y <- as.integer(v$y); J <- nlevels(v$y); x <- model.matrix(~f, v, contrasts.arg = list(f = "contr.treatment"))[, -1, drop = FALSE]
  b <- m$beta; eta <- c(x %*% b); high <- plogis(c(m$alpha, Inf)[y] - eta); low <- plogis(c(-Inf, m$alpha)[y] - eta)
  cut <- function(at) outer(at, seq_len(J - 1), "==")
  scores <- (cbind(cut(y), -x) * (high * (1 - high)) - cbind(cut(y - 1), -x) * (low * (1 - low))) / (high - low)
  bread <- solve(m$Hessian); covariance <- (bread %*% crossprod(rowsum(scores, v$participant)) %*% bread)[-seq_len(J - 1), -seq_len(J - 1), drop = FALSE]
  chi <- c(t(b) %*% solve(covariance, b))
  add(measure, "cumulative-link model", "condition", c(statistic = chi, df1 = length(b), p = pchisq(chi, length(b), lower.tail = FALSE),
    n = length(unique(v$participant)), left_out = 0))
}

# Named factors; columns are F1, F2, ... in the order of the factors: those between participants first
factor_frame <- function(d) { # rows in a cell, with a column for each factor whose levels have values
  d <- d[d$condition %in% names(cells), ]; v <- d[!is.na(d$value), ]; all <- c(study$between, study$within)
  for (i in seq_along(all)) d[[paste0("F", i)]] <- factor(level_at(d$condition, all[[i]][[1]]),
    levels = intersect(all[[i]][[2]], level_at(v$condition, all[[i]][[1]])))
  list(d = d, keys = setNames(sapply(all, `[[`, 1), paste0("F", seq_along(all))),
    between = paste0("F", seq_along(study$between))[seq_along(study$between)],
    within = paste0("F", length(study$between) + seq_along(study$within))[seq_along(study$within)])
}
term_of <- function(name, f) paste(f$keys[sort(strsplit(name, ":")[[1]])], collapse = ":")
factorial_rows <- function(measure, d, planned) {
  f <- factor_frame(d); people <- unique(f$d$participant); v <- f$d[!is.na(f$d$value), ]
  cell <- if (length(f$within)) interaction(v[f$within], drop = FALSE) else factor(rep("all", nrow(v)))
  m <- tapply(v$value, list(v$participant, cell), mean); m <- m[complete.cases(m), , drop = FALSE]
  v <- droplevels(v[v$participant %in% rownames(m), ]); v$id <- factor(v$participant); keys <- list()
  tests <- anova_of(v, f$between, f$within)
  for (name in names(tests)) {
    one <- tests[[name]]; term <- term_of(name, f); test <- named("factorial ANOVA", one$name)
    add(measure, test, term, c(one$used, left_out = length(people) - nrow(m))); keys[[term]] <- key_of(measure, test, term)
    if (!is.null(one$mauchly)) add(measure, "Mauchly's test", term, one$mauchly)
  }
  columns <- c(f$between, f$within)
  for (factor in columns) for (other in setdiff(columns, factor)) {
    family <- list()
    for (level in levels(v[[other]])) {
      part <- droplevels(v[v[[other]] == level, ])
      term <- sprintf("%s at %s = %s", f$keys[[factor]], f$keys[[other]], level)
      one <- tryCatch(anova_of(part, setdiff(f$between, other), setdiff(f$within, other))[[factor]]$used,
        error = function(e) { assign(key_of(measure, "simple effect", term), conditionMessage(e), envir = reasons); NULL })
      if (!is.null(one)) family[[term]] <- one
    }
    adjust(measure, "simple effect", family)
  }
  who <- v[match(rownames(m), v$participant), ]; outer <- if (length(f$between)) interaction(who[f$between], drop = FALSE) else factor(rep("all", nrow(m)))
  groups <- lapply(levels(outer), function(g) m[outer == g, , drop = FALSE]); df <- nrow(m) - length(groups)
  pooled <- Reduce(`+`, lapply(groups, function(g) crossprod(sweep(g, 2, colMeans(g))))) / df; family <- list()
  if (length(covariates) && !length(study$within)) return(keys) # contrasts are those of the analysis of covariance
  name_of <- function(condition, columns) if (length(columns)) paste(sapply(f$keys[columns], function(k) cells[[condition]][[k]]), collapse = ".") else "all"
  for (one in planned) {
    w <- matrix(0, length(groups), ncol(m), dimnames = list(levels(outer), colnames(m))); used <- names(one$weights); if (!all(used %in% names(cells))) next
    used <- used[unlist(one$weights[used]) != 0]
    if (!all(sapply(used, name_of, f$between) %in% rownames(w)) || !all(sapply(used, name_of, f$within) %in% colnames(w))) next
    for (key in used) { a <- name_of(key, f$between); b <- name_of(key, f$within); w[a, b] <- w[a, b] + one$weights[[key]] }
    variances <- diag(w %*% pooled %*% t(w)); sizes <- sapply(groups, nrow); se <- sqrt(sum(variances / sizes)); if (!(se > 0)) next
    estimate <- sum(w * t(sapply(groups, colMeans))); spreads <- sqrt(variances); same <- c(w %*% w[which.max(spreads), ]) >= 0
    sd <- max(sum(spreads[same]), sum(spreads[!same]))
    family[[one$name]] <- c(t_row(estimate / se, df, se, se / sd), bayes_factor = bayes_factor(estimate / se, (sd / se)^2, df))
    if (study$main != "mixed") add_equivalence(measure, one$name, estimate, se, df, one$margin, sd)
  }
  adjust(measure, "planned contrast of cells", family)
  keys
}
type_three <- function(d, columns) { # with missing cells: columns of full rank, and the weights that test each term, as in lmerTest
  formula <- reformulate(paste(columns, collapse = " * ")); labels <- attr(terms(formula), "term.labels"); parts <- strsplit(labels, ":")
  x <- model.matrix(formula, d, setNames(rep(list("contr.treatment"), length(columns)), columns)); place <- attr(x, "assign"); kept <- independent(x)
  x <- x[, kept, drop = FALSE]; place <- place[kept]
  every <- cbind(1, do.call(cbind, lapply(labels, function(one) model.matrix(reformulate(paste("0 +", one)), d)))); colnames(every)[1] <- "(Intercept)"
  L <- t(solve(crossprod(x), crossprod(x, every)))
  for (i in order(lengths(parts), decreasing = TRUE)) {
    above <- place %in% which(sapply(parts, function(one) length(one) > length(parts[[i]]) && all(parts[[i]] %in% one)))
    if (any(above) && any(place == i)) L[, place == i] <- resid(lm.fit(L[, above, drop = FALSE], L[, place == i, drop = FALSE]))
  }
  L <- L[colnames(x), , drop = FALSE]
  list(x = x, labels = labels, L = lapply(seq_along(labels), function(i) { one <- t(L[, place == i, drop = FALSE]); one[rowSums(abs(one)) > 1e-8, , drop = FALSE] }))
}
design_of <- function(d, columns) { # columns of all factors and interactions, and the weights that test each term
  if (nrow(unique(d[columns])) < prod(sapply(d[columns], nlevels))) return(type_three(d, columns))
  formula <- reformulate(paste(columns, collapse = " * ")); x <- model.matrix(formula, d); place <- attr(x, "assign"); labels <- attr(terms(formula), "term.labels")
  list(x = x, labels = labels, L = lapply(seq_along(labels), function(i) { # levels minus the first, as lmerTest's anova
    L <- matrix(1); for (one in strsplit(labels[i], ":")[[1]]) { s <- contr.sum(nlevels(d[[one]])); L <- sweep(s[-1, , drop = FALSE], 2, s[1, ]) %x% L }
    whole <- matrix(0, nrow(L), ncol(x)); whole[, which(place == i)] <- L; whole }))
}
centred_covariates <- function(d) matrix(scale(as.matrix(d[covariates]), scale = FALSE), nrow(d), dimnames = list(NULL, study$covariates))
ordinal_rows <- function(measure, d) { # ratings: likelihood ratios of cumulative-link mixed models
  f <- factor_frame(d); d <- droplevels(f$d); d <- d[complete.cases(d[covariates]), ]; columns <- c(f$between, f$within); design <- design_of(d, columns)
  slopes <- centred_covariates(d); x <- cbind(design$x[, -1, drop = FALSE], slopes); k <- ncol(design$x) - 1; d$y <- factor(d$value); d$id <- factor(d$participant)
  fitted <- function(x) { colnames(x) <- paste0("x", seq_len(ncol(x)))
    as.numeric(logLik(ordinal::clmm(reformulate(c(colnames(x), "(1 | id)"), "y"), data = cbind(d[c("y", "id")], x), nAGQ = 15,
      control = ordinal::clmm.control(gradTol = 1e-10)))) }
  whole <- fitted(x); n <- nlevels(d$id); everybody <- length(unique(rounds$participant[rounds$condition %in% names(cells)]))
  tests <- setNames(lapply(design$L, function(L) cbind(L[, -1, drop = FALSE], matrix(0, nrow(L), ncol(slopes)))), sapply(design$labels, term_of, f))
  for (i in seq_len(ncol(slopes))) tests[[study$covariates[i]]] <- matrix(as.numeric(seq_len(ncol(x)) == k + i), 1)
  for (term in names(tests)) if (nrow(tests[[term]])) { chi <- 2 * (whole - fitted(x %*% MASS::Null(t(tests[[term]])))); df <- nrow(tests[[term]])
    add(measure, "cumulative-link mixed model", term, c(n = n, left_out = everybody - n, statistic = chi, df1 = df, p = pchisq(chi, df, lower.tail = FALSE))) }
}
covariance_rows <- function(measure, d, planned) { # the analysis of covariance, by comparing models, and its contrasts of cells
  f <- factor_frame(d); people <- length(unique(f$d$participant)); d <- f$d[!is.na(f$d$value), ]; d <- d[complete.cases(d[covariates]), ]; columns <- f$between
  value <- tapply(d$value, d$participant, mean); d <- droplevels(d[match(names(value), d$participant), ]); y <- c(value); n <- length(y)
  formula <- reformulate(paste(columns, collapse = " * ")); cells_x <- model.matrix(formula, d); place <- attr(cells_x, "assign"); labels <- attr(terms(formula), "term.labels")
  x <- cbind(cells_x, centred_covariates(d)); x <- x[, independent(x), drop = FALSE]; k <- ncol(cells_x); rss <- function(x) sum(lm.fit(x, y)$residuals^2)
  error <- rss(x); df <- n - ncol(x); keys <- list()
  row_of <- function(ss, df1, error, df2) { F <- ss / df1 / (error / df2); c(n = n, statistic = F, df1 = df1, df2 = df2,
    p = pf(F, df1, df2, lower.tail = FALSE), effect = ss / (ss + error)) }
  for (i in seq_along(labels)) { own <- which(place == i); term <- term_of(labels[i], f); keys[[term]] <- key_of(measure, "analysis of covariance", term)
    add(measure, "analysis of covariance", term, c(row_of(rss(x[, -own, drop = FALSE]) - error, length(own), error, df), left_out = people - n)) }
  for (i in seq_len(ncol(x) - k) + k) add(measure, "analysis of covariance", colnames(x)[i],
    c(row_of(rss(x[, -i, drop = FALSE]) - error, 1, error, df), difference = unname(lm.fit(x, y)$coefficients[i])))
  larger <- cbind(x, products(x[, -seq_len(k), drop = FALSE], cells_x[, -1, drop = FALSE])); left <- rss(larger)
  add(measure, "equal slopes of covariates", "", row_of(error - left, ncol(larger) - ncol(x), left, n - ncol(larger)))
  named_cell <- function(condition) paste(cells[[condition]], collapse = "\n"); whose <- sapply(d$condition, named_cell); family <- list()
  for (one in planned) {
    used <- names(one$weights)[unlist(one$weights) != 0]; if (!all(used %in% names(cells)) || !all(sapply(used, named_cell) %in% whose)) next
    w <- tapply(unlist(one$weights[used]), sapply(used, named_cell), sum); own <- c(w %*% cells_x[match(names(w), whose), , drop = FALSE], rep(0, ncol(x) - k))
    se <- sqrt(error / df * c(own %*% solve(crossprod(x), own))); estimate <- sum(own * lm.fit(x, y)$coefficients); sd <- sqrt(error / df) * sum(abs(w)) / 2
    family[[one$name]] <- c(t_row(estimate / se, df, se, se / sd), bayes_factor = bayes_factor(estimate / se, (sd / se)^2, df))
    if (study$main != "mixed") add_equivalence(measure, one$name, estimate, se, df, one$margin, sd)
  }
  adjust(measure, "planned contrast, analysis of covariance", family)
  keys
}
factorial_mixed_rows <- function(measure, d, plan, planned) {
  f <- factor_frame(d); d <- droplevels(f$d); d <- d[complete.cases(d[covariates]), ]; d$id <- factor(d$participant); columns <- c(f$between, f$within)
  design <- design_of(d, columns); x <- design$x; labels <- design$labels; tested <- design$L
  cells_x <- x; more <- cbind(position = d$position - mean(d$position), centred_covariates(d)); x <- cbind(cells_x, more); kept <- independent(x); slopes <- setdiff(kept, seq_len(ncol(cells_x)))
  whole <- function(L) cbind(L, matrix(0, nrow(L), length(slopes))); able <- sapply(tested, nrow) > 0; labels <- labels[able]
  hypotheses <- c(lapply(tested[able], whole), lapply(slopes, function(i) matrix(as.numeric(kept == i), 1)))
  able <- Filter(function(one) all(names(one$weights) %in% d$condition), planned)
  sums <- lapply(able, function(one) { used <- names(one$weights)
    c(unlist(one$weights[used]) %*% cells_x[match(used, d$condition), , drop = FALSE], rep(0, length(slopes))) })
  random <- sapply(plan$random, function(one) if (one == "") "(1 | id)" else sprintf("(1 | id:%s)", names(f$keys)[f$keys == one]))
  fit <- mixed_tests(d[c("value", "id", columns)], x[, kept], unname(unlist(random)), hypotheses, sums); keys <- list(); n <- nlevels(d$id)
  everybody <- length(unique(rounds$participant[rounds$condition %in% names(cells)]))
  for (i in seq_along(labels)) {
    term <- term_of(labels[i], f); add(measure, "factorial mixed model", term, c(fit$tests[[i]], n = n, left_out = everybody - n))
    keys[[term]] <- key_of(measure, "factorial mixed model", term)
  }
  for (i in seq_along(slopes)) add(measure, "factorial mixed model", colnames(x)[slopes[i]], c(fit$tests[[length(labels) + i]], n = n,
    difference = unname(fit$estimates[kept == slopes[i]])))
  for (i in seq_along(able)) if (is.null(get0(key_of(measure, equivalence, able[[i]]$name), found))) {
    one <- fit$sums[[i]]; add_equivalence(measure, able[[i]]$name, one[["difference"]], one[["difference"]] / one[["statistic"]], one[["df1"]], able[[i]]$margin, 1)
  }
  adjust(measure, "planned contrast, mixed model", setNames(fit$sums, sapply(able, `[[`, "name")))
  keys
}

# All measures
attempt <- function(expression) tryCatch(expression, error = function(e) { # its rows are then named as not computed, with the reason
  assign(plan$key, conditionMessage(e), envir = reasons); list() })
deciding <- list()
for (plan in study$measures) {
  own <- rows[rows$measure == plan$key, ]; d <- own[own$mixed_model_only != "1", ]; v <- d[!is.na(d$value), ]; all <- own[!is.na(own$value), ]
  known <- intersect(study$conditions, v$condition); main <- list()
  planned <- Filter(function(one) !length(one$measures) || plan$key %in% one$measures, study$contrasts)
  main$one_way <- attempt(one_way_rows(plan$key, v))
  if (packages[["afex"]]) main$repeated <- attempt(if (length(cells)) factorial_rows(plan$key, d, planned)
    else if (length(study$groups)) grouped_rows(plan$key, d) else repeated_rows(plan$key, d, known))
  if (length(covariates) && !length(study$within)) main$repeated <- attempt(covariance_rows(plan$key, d, planned))
  if (length(cells) && plan$kind == "likert" && packages[["ordinal"]]) attempt(ordinal_rows(plan$key, all))
  if (length(cells)) main$one_way <- main$friedman <- main$repeated else {
    if (!length(study$groups)) main$friedman <- attempt(rank_rows(plan$key, d, known))
    contrast_rows(plan$key, d, known, "planned contrast", planned)
    if (plan$kind == "likert" && packages[["ordinal"]]) attempt(cumulative_rows(plan$key, v, known))
  }
  if (packages[["lmerTest"]] && !is.null(plan$random)) main$mixed <- attempt(if (length(cells)) factorial_mixed_rows(plan$key, all, plan, planned) else mixed_rows(plan$key, all, plan))
  contrast_rows(plan$key, d, known, "paired t test", pairs_of(known))
  deciding[[plan$key]] <- main[[study$main]]
}
if (study$correction != "none") for (family in c("primary", "secondary")) { # corrected over measures, for each term
  keys <- sapply(Filter(function(one) one$family == family, study$measures), `[[`, "key")
  keys <- as.character(keys)
  for (term in unique(unlist(lapply(deciding[keys], names)))) {
    places <- unlist(lapply(keys, function(one) deciding[[one]][[term]]))
    ps <- p.adjust(sapply(places, function(one) get(one, found)[["p"]]), if (study$correction == "fdr") "BH" else "holm")
    for (i in seq_along(places)) assign(places[i], c(get(places[i], found), p_adjusted = ps[[i]]), envir = found)
  }
}

# The comparison with tests.csv
tests <- read("tests.csv"); tested <- tests[tests$not_computable == "", ]; same <- 0; wrong <- 0; largest <- 0
for (i in seq_len(nrow(tested))) {
  line <- tested[i, ]; name <- sprintf("%s: %s, %s", line$measure, line$test, line$term)
  row <- get0(key_of(line$measure, line$test, line$term), found); asked <- columns[line[columns] != ""]
  if (is.null(row) || !all(asked %in% names(row))) {
    reason <- c(get0(key_of(line$measure, line$test, line$term), reasons), get0(line$measure, reasons), "this script does not compute it")[1]
    where <- if (is.null(row)) "all columns" else paste("column", setdiff(asked, names(row))[1])
    cat(sprintf("not computed here: row %d, %s (%s: %s)\n", which(tests$not_computable == "")[i] + 1, name, where, reason)); next
  }
  given <- as.numeric(line[asked]); ours <- unname(row[asked]); none <- if (line$test == "Nemenyi") 1e-10 else 1e-12
  apart <- ifelse(abs(given - ours) < none, 0, abs(given - ours) / pmax(abs(given), abs(ours))); worst <- which.max(replace(apart, is.na(apart), Inf))
  if (is.na(apart[worst]) || apart[worst] > 1e-6) {
    wrong <- wrong + 1; cat(sprintf("differs: %s (%s is %.15g, here %.15g)\n", name, asked[worst], given[worst], ours[worst]))
  } else { same <- same + 1; largest <- max(largest, apart[worst]) }
}
for (package in names(packages)[!packages]) cat(sprintf("The package %s is missing: its rows are left out.\n", package))
if (nrow(tests) > nrow(tested)) cat(nrow(tests) - nrow(tested), "more rows of tests.csv say why they have no numbers.\n")
cat(sprintf("%d of %d rows of tests.csv reproduced (largest relative difference %.0e)\n", same, nrow(tested), largest))
quit(status = as.integer(wrong > 0))
